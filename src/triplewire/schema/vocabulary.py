"""The words of a schema.

RDF Schema's: `rdfs:domain` and `rdfs:range` (several: all hold), `rdfs:subClassOf`, `rdfs:subPropertyOf`,
`rdfs:Class`, `rdfs:Datatype`, `rdf:Property`. OWL's: `owl:FunctionalProperty`, and a class below an `owl:Restriction`
with `owl:onProperty` and `owl:cardinality`, `owl:minCardinality` or `owl:maxCardinality`. Our own, for what MDV adds
to RDF Schema, in the namespace `urn:triplewire:schema#`:

    setValued        `false`: a resource has at most one value of the property. `true`: it may have several
    minimum          how many values each resource of the property's domain has at least
    maximum          how many values a resource has at most
    strongReference  `true`: what the property references belongs to the content of the resource, and travels with it
    weakReference    `true`: it does not; this is so for every property that is not strong

A property may also be an instance of `StrongReference` or `WeakReference`. MDV takes a property for single-valued
unless its schema says otherwise; the vocabularies of the web do not, so here a property is limited only by a statement.
"""

from __future__ import annotations

from triplewire.model import RDF, RDFS

SCHEMA = "urn:triplewire:schema#"
"""The namespace of our own words."""

OWL = "http://www.w3.org/2002/07/owl#"

TYPE = RDF + "type"
DOMAIN, RANGE = RDFS + "domain", RDFS + "range"
SUB_CLASS, SUB_PROPERTY = RDFS + "subClassOf", RDFS + "subPropertyOf"
LITERAL = RDFS + "Literal"

ANYTHING = frozenset([RDFS + "Resource", OWL + "Thing"])
"""Classes that every resource belongs to."""

CLASSES = frozenset([RDFS + "Class", OWL + "Class"])
DATATYPES = frozenset([RDFS + "Datatype"])

FUNCTIONAL = OWL + "FunctionalProperty"
STRONG, WEAK = SCHEMA + "StrongReference", SCHEMA + "WeakReference"
PROPERTIES = frozenset(
    [RDF + "Property", FUNCTIONAL, STRONG, WEAK]
    + [f"{OWL}{kind}Property" for kind in ("Object", "Datatype", "Annotation", "InverseFunctional", "Transitive")]
)

ON_PROPERTY = OWL + "onProperty"
LEAST, MOST, EXACTLY = OWL + "minCardinality", OWL + "maxCardinality", OWL + "cardinality"

SET_VALUED, MINIMUM, MAXIMUM = SCHEMA + "setValued", SCHEMA + "minimum", SCHEMA + "maximum"
STRONG_REFERENCE, WEAK_REFERENCE = SCHEMA + "strongReference", SCHEMA + "weakReference"

OWN = frozenset([SET_VALUED, MINIMUM, MAXIMUM, STRONG_REFERENCE, WEAK_REFERENCE])
"""Our own statements about properties."""
