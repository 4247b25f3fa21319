"""The worked examples of the papers, as data: documents, queries and the rows that each query has.

Every engine runs the same list. A row maps a variable to a term in its N-Triples spelling.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyoxigraph import RdfFormat, Triple, parse

MDV = "http://example.org/objectglobe#"
TOPSS = "http://example.org/topss#"
LIBRARY = "http://example.org/library#"
DOC = "http://example.org/doc.rdf"


@dataclass(frozen=True, slots=True)
class Source:
    """A document as its publisher wrote it."""

    uri: str
    media_type: str
    text: str

    def triples(self) -> list[Triple]:
        """Its triples."""
        kind = RdfFormat.from_media_type(self.media_type)
        assert kind is not None
        return [quad.triple for quad in parse(self.text.encode(), format=kind, base_iri=self.uri)]


@dataclass(frozen=True, slots=True)
class Example:
    """A query over one document, and its rows; `rulebook` has the named rules that the query uses."""

    id: str
    language: str
    text: str
    source: Source
    rows: tuple[dict[str, str], ...]
    prefixes: dict[str, str] = field(default_factory=dict)
    rulebook: str = ""
    taxonomy: Source | None = None


FIGURE_1 = Source(
    DOC,
    "application/rdf+xml",
    f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="{MDV}">
  <CycleProvider rdf:ID="host">
    <serverHost>pirates.uni-passau.de</serverHost>
    <serverPort>5874</serverPort>
    <synthValue>17</synthValue>
    <serverInformation>
      <ServerInformation rdf:ID="info" xmlns:og="{MDV}" og:memory="92" og:cpu="600" />
    </serverInformation>
  </CycleProvider>
</rdf:RDF>
""",
)
"""MDV's figure 1, with the property that the COMP rules of figure 10 ask for."""

FIGURE_5C = Source(
    "http://example.org/publication",
    "text/turtle",
    f"""@prefix : <{TOPSS}> .
:HomePage325 :project :G-ToPSS .
:G-ToPSS :supervisor "Arno Jacobsen" ; :year "2005" ; :paper :SIGMOD2001 .
""",
)
FIGURE_6 = Source(
    "http://example.org/taxonomy",
    "text/turtle",
    f"""@prefix : <{TOPSS}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:ResearchLab rdfs:subClassOf :Academia .
:University rdfs:subClassOf :Academia .
:UofT rdfs:subClassOf :University .
:MiddlewareGroup rdfs:subClassOf :ResearchLab .
:PubSubSystemDevelopment rdfs:subClassOf :MiddlewareGroup .
:AspectOrientedSoftwareDevelopment rdfs:subClassOf :MiddlewareGroup .
:HomePage325 a :UofT, :PubSubSystemDevelopment .
""",
)
FIGURE_6_CLASSES = Source(
    FIGURE_6.uri, FIGURE_6.media_type, FIGURE_6.text.replace(":HomePage325 a :UofT, :PubSubSystemDevelopment .", "")
)
TYPED_PUBLICATION = Source(
    FIGURE_5C.uri, FIGURE_5C.media_type, FIGURE_5C.text + ":HomePage325 a :UofT, :PubSubSystemDevelopment .\n"
)
"""Figure 5(c) with the instance's classes in the document instead of the taxonomy (section 3.4)."""

FIGURE_12 = Source(
    "http://example.org/figure12",
    "text/turtle",
    f"""@prefix : <{TOPSS}> .
:Homepage325 :Project :G-ToPSS .
:G-ToPSS :Supervisor "Arno Jacobsen" ; :YEAR "2004" .
""",
)
FIGURE_13 = Source(
    "http://www.xml.com/xml/news.rss",
    "application/rdf+xml",
    """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
  <channel rdf:about="http://www.xml.com/xml/news.rss">
    <title>XML.com</title>
    <items>
      <rdf:Seq>
        <rdf:li rdf:resource="http://xml.com/pub/2000/08/09/xslt/xslt.html" />
        <rdf:li rdf:resource="http://xml.com/pub/2000/08/09/rdfdb/index.html" />
      </rdf:Seq>
    </items>
  </channel>
  <item rdf:about="http://xml.com/pub/2000/08/09/xslt/xslt.html">
    <title>Processing Inclusions with XSLT</title>
  </item>
  <item rdf:about="http://xml.com/pub/2000/08/09/rdfdb/index.html">
    <title>Putting RDF to Work</title>
  </item>
</rdf:RDF>
""",
)
ARTICLE = Source(
    "http://example.org/article",
    "text/turtle",
    """@prefix dc: <http://purl.org/dc/elements/1.1/> .
<http://www.intelligence.tuc.gr/publications/esws.pdf> a dc:article ; dc:creator "Koubarakis" ; dc:date "2004" .
""",
)
LIBRARY_DOCUMENT = Source(
    "http://example.org/papers",
    "text/turtle",
    f"""@prefix : <{LIBRARY}> .
:p1 :author "Smith", "Miller" ; :topic "P2P" ; :citation :p2, :p3 .
:p4 :author "Smith" ; :topic "Databases" ; :citation :p1 .
""",
)
GRID_DOCUMENT = Source(
    "http://example.org/grid",
    "text/turtle",
    f"""@prefix : <{LIBRARY}> .
:m1 :type :PC ; :OS :Linux ; :software :BLAST, :Emacs .
:m2 :type :PC ; :OS :Linux .
""",
)

_HOST = ({"c": f"<{DOC}#host>"},)
_INFO = ({"s": f"<{DOC}#info>"},)
_MDV = {"": MDV}
EXAMPLE_1 = """
    search    CycleProvider c
    register  c
    where     c.serverHost contains 'uni-passau.de'
              and c.serverInformation.memory > 64"""
NORMALIZED = """
    search    CycleProvider c, ServerInformation s
    register  c
    where     c.serverHost contains 'uni-passau.de'
              and c.serverInformation = s
              and s.memory > 64"""
SECTION_331 = NORMALIZED + " and s.cpu > 500"
RULEBOOK = """
    RuleA: search ServerInformation s register s where s.memory > 64;
    RuleB: search ServerInformation s register s where s.cpu > 500;
    RuleC: search CycleProvider c register c where c.serverHost contains 'uni-passau.de';
    RuleE: search RuleA a, RuleB b register a where a = b;
"""
RULE_D = "search RuleA a, RuleB b, RuleC c register c where a = b and c.serverInformation = a"
RULE_F = "search RuleE a, RuleC c register c where c.serverInformation = a"
RULE_GROUPS = """
    RuleA: search CycleProvider c register c;
    RuleB1: search ServerInformation s register s where s.memory > 64;
    RuleB2: search ServerInformation s register s where s.cpu > 500;
"""


def _rule(id: str, text: str, rows: tuple[dict[str, str], ...] = _HOST, rulebook: str = "") -> Example:
    return Example(f"mdv-{id}", "rules", text, FIGURE_1, rows, _MDV, rulebook)


MDV_EXAMPLES = (
    _rule("example-1", EXAMPLE_1),
    _rule("3.1-contains", "search CycleProvider c register c where c.serverHost contains 'uni-passau.de'"),
    _rule("3.1-path", "search CycleProvider c register c where c.serverInformation.memory > 64"),
    _rule("3.1-path-too-little", "search CycleProvider c register c where c.serverInformation.memory > 92", ()),
    _rule("3.3-normalized", NORMALIZED),
    _rule("3.3.1-rule", SECTION_331),
    _rule("3.3.1-A", "search ServerInformation s register s where s.memory > 64", _INFO),
    _rule("3.3.1-B", "search ServerInformation s register s where s.cpu > 500", _INFO),
    _rule("3.3.1-D", RULE_D, rulebook=RULEBOOK),
    _rule("3.3.1-E", "search RuleA a, RuleB b register a where a = b", ({"a": f"<{DOC}#info>"},), RULEBOOK),
    _rule("3.3.1-F", RULE_F, rulebook=RULEBOOK),
    _rule("3.3.3-C1", "search RuleA c, RuleB1 s register c where c.serverInformation = s", rulebook=RULE_GROUPS),
    _rule("3.3.3-C2", "search RuleA c, RuleB2 s register c where c.serverInformation = s", rulebook=RULE_GROUPS),
    _rule("figure-10-OID", f"search CycleProvider c register c where c = '{DOC}#host'"),
    _rule("figure-10-OID-another", f"search CycleProvider c register c where c = '{DOC}#info'", ()),
    _rule("figure-10-COMP", "search CycleProvider c register c where c.synthValue > 9"),
    _rule("figure-10-COMP-numbers-not-text", "search CycleProvider c register c where c.synthValue > 100", ()),
    _rule("figure-10-PATH", "search CycleProvider c register c where c.serverInformation.memory = 92"),
    _rule(
        "figure-10-JOIN",
        "search CycleProvider c register c where c.serverHost contains 'uni-passau.de' and "
        "c.serverInformation.cpu = 600 and c.serverInformation.memory = 92",
    ),
)

_TOPSS = {"": TOPSS}
_5A = """SELECT ?x WHERE (HomePage325, project, G-ToPSS), (G-ToPSS, supervisor, Arno Jacobsen), (G-ToPSS, year, ?x)
         SUCHTHAT (?x > 2003)"""
_5B = """SELECT ?page, ?year WHERE (?page, project, ?project), (?project, year, ?year)
         SUCHTHAT (?page <= {kind}), (?year > 2004)"""
_PAGE = ({"page": f"<{TOPSS}HomePage325>", "year": '"2005"'},)


def _is_a(id: str, condition: str, *, found: bool) -> Example:
    text = f"SELECT ?page WHERE (?page, project, G-ToPSS) SUCHTHAT (?page {condition})"
    rows = ({"page": f"<{TOPSS}HomePage325>"},) if found else ()
    return Example(f"topss-{id}", "gql", text, FIGURE_5C, rows, _TOPSS, taxonomy=FIGURE_6)


TOPSS_EXAMPLES = (
    Example("topss-5a", "gql", _5A, FIGURE_5C, ({"x": '"2005"'},), _TOPSS),
    Example("topss-5a-later", "gql", _5A.replace("2003", "2005"), FIGURE_5C, (), _TOPSS),
    Example("topss-5b", "gql", _5B.format(kind="Academia"), FIGURE_5C, _PAGE, _TOPSS, taxonomy=FIGURE_6),
    Example("topss-5b-without-taxonomy", "gql", _5B.format(kind="Academia"), FIGURE_5C, (), _TOPSS),
    Example(
        "topss-5b-typed-in-the-document",
        "gql",
        _5B.format(kind="Academia"),
        TYPED_PUBLICATION,
        _PAGE,
        _TOPSS,
        taxonomy=FIGURE_6_CLASSES,
    ),
    Example("topss-5b-other-parent", "gql", _5B.format(kind="MiddlewareGroup"), FIGURE_5C, _PAGE, _TOPSS, "", FIGURE_6),
    _is_a("6-descendant-of-a-sibling", "isa AspectOrientedSoftwareDevelopment", found=False),
    _is_a("6-direct-instance", "instanceOf UofT", found=True),
    _is_a("6-not-a-direct-instance", "= Academia", found=False),
    _is_a("6-not-an-ancestor", ">= UofT", found=False),
    Example(
        "topss-12",
        "gql",
        """SELECT ?x
      WHERE (Homepage325, Project, G-ToPSS), (G-ToPSS, Supervisor,
Arno Jacobsen), (G-ToPSS, YEAR, ?x)
      SUCHTHAT (?x > 2000) """,
        FIGURE_12,
        ({"x": '"2004"'},),
        _TOPSS,
    ),
    Example(
        "topss-13-containers",
        "gql",
        "SELECT ?title WHERE (?channel, items, ?list), (?list, member, ?item), (?item, title, ?title) "
        "SUCHTHAT (?title contains 'RDF')",
        FIGURE_13,
        ({"title": '"Putting RDF to Work"'},),
        {"": "http://purl.org/rss/1.0/"},
    ),
    Example(
        "topss-predicate-variable",
        "gql",
        "SELECT ?p WHERE (G-ToPSS, ?p, Arno Jacobsen)",
        FIGURE_5C,
        ({"p": f"<{TOPSS}supervisor>"},),
        _TOPSS,
    ),
)

ARTICLES = """ans(X) :- (X, rdf:type, dc:article) ∧ (X, dc:creator, Y) ∧ (X, dc:date, Z)
    ∧ (Y contains 'Nejdl' or Y contains 'Koubarakis') ∧ Z = 2004"""
_ARTICLE = ({"X": "<http://www.intelligence.tuc.gr/publications/esws.pdf>"},)
SMITH = '?x, ?y : (?x, author, “Smith”) ∧ (?x, topic, "P2P") ^ (?x, citation, ?y)'

NETWORK_EXAMPLES = (
    Example("qel-subscription", "qel", ARTICLES, ARTICLE, _ARTICLE),
    Example("qel-another-author", "qel", ARTICLES.replace("Koubarakis", "Idreos"), ARTICLE, ()),
    Example("qel-another-year", "qel", ARTICLES.replace("2004", "2003"), ARTICLE, ()),
    Example(
        "conjunctive-smith",
        "conjunctive",
        SMITH,
        LIBRARY_DOCUMENT,
        tuple({"x": f"<{LIBRARY}p1>", "y": f"<{LIBRARY}{cited}>"} for cited in ("p2", "p3")),
        {"": LIBRARY},
    ),
    Example(
        "conjunctive-grid",
        "conjunctive",
        "?x : (?x, type, PC) ∧ (?x, OS, Linux) ∧ (?x, software, BLAST)",
        GRID_DOCUMENT,
        ({"x": f"<{LIBRARY}m1>"},),
        {"": LIBRARY},
    ),
)

EXAMPLES = MDV_EXAMPLES + TOPSS_EXAMPLES + NETWORK_EXAMPLES
"""All of them."""

EQUIVALENT = {
    "example-1": (
        ("rules", EXAMPLE_1),
        (
            "rules",
            "search CycleProvider c register c where 64 < c.serverInformation.memory "
            "and not not c.serverHost contains 'uni-passau.de' and c.serverInformation.memory >= 10",
        ),
        (
            "conjunctive",
            "?c : (?c, rdf:type, CycleProvider) ^ (?c, serverHost, ?h) ^ ?h contains 'uni-passau.de' "
            "^ (?c, serverInformation, ?i) ^ (?i, memory, ?m) ^ ?m > 64",
        ),
        (
            "gql",
            "select ?c where (?i, memory, ?m), (?c, serverInformation, ?i), (?c, rdf:type, CycleProvider), "
            "(?c, serverHost, ?h) suchthat (?h contains 'uni-passau.de'), (?m > 64.0)",
        ),
    ),
    "figure-10-OID": (
        ("rules", f"search CycleProvider c register c where c = '{DOC}#host'"),
        ("rules", f"search CycleProvider c register c where <{DOC}#host> = c"),
        ("conjunctive", f"?c : (?c, rdf:type, CycleProvider) ^ ?c = <{DOC}#host>"),
        ("gql", f"SELECT ?c WHERE (?c, rdf:type, CycleProvider) SUCHTHAT (?c is <{DOC}#host>)"),
        ("sparql", f"SELECT ?c {{ ?c a <{MDV}CycleProvider> FILTER(?c = <{DOC}#host>) }}"),
    ),
    "subscription": (
        ("qel", ARTICLES),
        (
            "gql",
            "SELECT ?X WHERE (?X, dc:creator, ?a), (?X, rdf:type, dc:article), (?X, dc:date, 2004) "
            "SUCHTHAT (?a contains 'Koubarakis' or ?a contains 'Nejdl')",
        ),
        (
            "rules",
            "search dc:article X register X where X.dc:date = 2004 "
            "and (X.dc:creator contains 'Nejdl' or X.dc:creator contains 'Koubarakis')",
        ),
    ),
    "smith": (
        ("conjunctive", '?x, ?y : (?x, author, "Smith") and (?x, topic, "P2P") and (?x, citation, ?y)'),
        ("qel", "ans(?x, ?y) :- (?x, citation, ?y), (?x, topic, Z), (?x, author, 'Smith'), Z = 'P2P'"),
        ("gql", "SELECT ?x ?y WHERE (?x, author, 'Smith'), (?x, topic, 'P2P'), (?x, citation, ?y)"),
        ("sparql", f'PREFIX : <{MDV}> SELECT ?x ?y {{ ?x :author "Smith" ; :topic "P2P" ; :citation ?y }}'),
    ),
}
"""Queries of different languages that say the same (N6)."""
