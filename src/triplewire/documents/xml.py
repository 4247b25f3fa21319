"""XML in its canonical form: what XPath sees of it, and nothing else.

Canonical XML (W3C, 2001, with comments) is defined on the same model as XPath: elements, attributes, text, comments,
processing instructions and namespaces stay, and what XPath cannot see (the encoding, the document type, the order of
attributes, CDATA sections) has one spelling or none. So documents that no expression can tell apart are equal bytes,
and the matcher can read them by a simple rule: tags, and text between them.
"""

from __future__ import annotations

import re

from lxml import etree

from triplewire.documents.markup import Markup
from triplewire.errors import DocumentError

_REFERRING = re.compile(rb' xmlns(?::[^= ]+)?="[^"]*&')
_MARKUP = re.compile(rb'<!--.*?-->|<\?.*?\?>|<[^">]*(?:"[^"]*"[^">]*)*>', re.DOTALL)
_DECLARATION = re.compile(rb' xmlns(?::[^= ]+)?="[^"]*"')


def canonical(text: bytes, found: Markup, *, uri: str) -> bytes:
    """The canonical form of a text that `markup.check` has found harmless; it is UTF-8."""
    if found.has_entities:
        reason = "it declares entities, which are never expanded; write their text into the document"
        raise DocumentError(reason, uri=uri)
    try:
        return written(etree.fromstring(text, _parser()))
    except etree.XMLSyntaxError as error:
        line, column = error.position
        reason = f"not well-formed XML: {error.msg.rpartition(', line')[0] or error.msg}"
        raise DocumentError(reason, uri=uri, line=line or None, column=column or None) from None
    except etree.C14NError:
        raise DocumentError("a namespace of it is a relative reference; write an absolute IRI", uri=uri) from None


def written(root: etree._Element) -> bytes:
    """The canonical form of a tree; C14NError if a namespace is a relative reference."""
    text = bytes(etree.tostring(root.getroottree(), method="c14n", with_comments=True))
    return _MARKUP.sub(_with_references, text) if _REFERRING.search(text) else text


def _with_references(markup: re.Match[bytes]) -> bytes:
    """A tag whose declarations are well-formed: libxml2 writes an & in a namespace as it is."""
    tag = markup[0]
    if tag.startswith((b"<!", b"<?")):
        return tag
    return _DECLARATION.sub(lambda found: found[0].replace(b"&", b"&amp;"), tag)


def _parser() -> etree.XMLParser:
    """Nothing is fetched, loaded or expanded. The limits have been checked, so those of libxml2 are off."""
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=True
    )
