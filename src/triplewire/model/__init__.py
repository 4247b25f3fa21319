"""The values that everything else speaks of: terms, triples and documents.

Terms and triples are pyoxigraph's own. All values are frozen; nothing here reads a clock, a file or a network.
"""

from triplewire.model.document import Document
from triplewire.model.terms import RDF, RDFS, XSD, Term, parse_term

__all__ = ["RDF", "RDFS", "XSD", "Document", "Term", "parse_term"]
