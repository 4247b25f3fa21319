"""Random XML and random XPath, by grammars of what each can have; few names and values, so that they meet."""

from __future__ import annotations

from random import Random

PREFIXES = {"p": "urn:p", "q": "urn:q?x&y"}
VALUES = (
    "1",
    "2",
    "2.5",
    "x",
    "xyz",
    "hello world",
    "",
    "-3",
    "1e1",
    "  7 ",
    "a&amp;b",
    "&lt;x&gt;",
    "&quot;&#9;",
    "&#50;",
)
CONSTANTS = ("1", "2", "2.5", "x", "xyz", "hello world", "", "-3", "lo w", "a&b", "<x>", '"\t', "amp;", "worldxyz")
_ELEMENTS = ("a", "b", "c", "p:d", "q:a", "e")
_ATTRIBUTES = ("i", "j", "p:k", "q:i", "xml:lang", "xmlnsi")
_DECLARED = ("urn:p", "urn:q?x&amp;y", "urn:r")
_TESTS = ("a", "b", "c", "a", "b", "p:d", "*", "p:*", "q:a", "q:b")
_AXES = (
    *("", "", "", "", "@", "descendant::", "parent::", "following-sibling::", "ancestor::", "self::", "child::"),
    *("descendant-or-self::", "ancestor-or-self::", "preceding::", "following::", "preceding-sibling::"),
)
_COMPARISONS = ("=", "<", ">", "<=", ">=", "!=")


def random_xml(rng: Random) -> bytes:
    """A document: without namespaces, with some by prefix, or with a default one and prefixes that mean others."""
    parts = "".join(_element(rng, 3) for _ in range(rng.randint(1, 3)))
    kind = rng.random()
    if kind < 0.2:
        return f"<r>{parts.replace('p:', '').replace('q:', 'y')}</r>".encode()
    declared = 'xmlns:p="urn:p" xmlns:q="urn:q?x&amp;y"'
    if kind < 0.7:
        return f'<?xml version="1.0"?><!--top--><r {declared}>{parts}</r>'.encode()
    return f'<a xmlns="urn:p" xmlns:p="urn:q" xmlns:q="urn:p">{parts}<b xmlns="">2</b></a>'.encode()


def _element(rng: Random, depth: int) -> str:
    name = rng.choice(_ELEMENTS)
    named = rng.sample(_ATTRIBUTES, rng.randint(0, 2))
    attributes = "".join(f' {key}="{rng.choice(VALUES)}"' for key in named)
    if rng.random() < 0.1:  # the namespace of a prefix, or that of names without one, is another one from here on
        attributes += rng.choice([f' xmlns="{rng.choice((*_DECLARED, ""))}"', f' xmlns:p="{rng.choice(_DECLARED)}"'])
    body = "".join(_content(rng, depth) for _ in range(rng.randint(0, 4)))
    return f"<{name}{attributes}>{body}</{name}>"


def _content(rng: Random, depth: int) -> str:
    kind = rng.random()
    if depth and kind < 0.6:
        return _element(rng, depth - 1)
    if kind > 0.9:
        return rng.choice(["<!-- < z - > -->", "<?target > data?>", "<![CDATA[1]]>", "<![CDATA[<a> & b]]>"])
    return rng.choice(VALUES)


def random_expression(rng: Random, depth: int = 3) -> str:
    """An expression of any type."""
    kind = rng.random()
    if kind < 0.35 or depth <= 0:
        return _simple(rng, depth)
    if kind < 0.5:
        return f"({random_expression(rng, depth - 1)}) {rng.choice(['and', 'or'])} ({_simple(rng, depth - 1)})"
    if kind < 0.57:
        return f"not({random_expression(rng, depth - 1)})"
    if kind < 0.62:
        return f"count({_path(rng, depth - 1)}) {rng.choice(_COMPARISONS)} {rng.randint(0, 2)}"
    if kind < 0.67:
        return f"{_path(rng, depth - 1)} | {_path(rng, depth - 1)}"
    if kind < 0.72:
        return f"{_path(rng, 0)} {rng.choice(_COMPARISONS)} {_path(rng, 0)}"
    if kind < 0.78:
        return f"({_path(rng, depth - 1)})[{_simple(rng, 0)}]/{_step(rng, 0)}"
    if kind < 0.86:
        return _of_functions(rng)
    return _path(rng, depth)


def _of_functions(rng: Random) -> str:
    path = _path(rng, 0)
    return rng.choice(
        [
            f"string({path}) = {_constant(rng)}",
            f"normalize-space({path}) = {_constant(rng)}",
            f"sum({path}) > 1",
            f"string-length({path}) > 2",
            f"concat({path}, 'x') = 'x'",
            f"boolean({path}) = true()",
            f"number({path}) + 1 >= {rng.randint(0, 3)}",
            f"-{path} < 2",
            f"name({path}) = 'a'",
            f"substring({path}, 2) = 'yz'",
        ]
    )


def _simple(rng: Random, depth: int) -> str:
    kind = rng.random()
    operand = rng.choice([_path(rng, 0), ".", "text()", "@i"])
    if kind < 0.3:
        return _path(rng, depth - 1)
    if kind < 0.65:
        return f"{operand} {rng.choice(_COMPARISONS)} {_constant(rng)}"
    if kind < 0.75:
        return f"{_constant(rng)} {rng.choice(_COMPARISONS)} {operand}"
    if kind < 0.9:
        return f"{rng.choice(['contains', 'starts-with'])}({operand}, '{rng.choice(CONSTANTS)}')"
    return rng.choice(["1", "2", "last()", "position() = 2", "true()", "false()", "position() < last()", "lang('x')"])


def _constant(rng: Random) -> str:
    return rng.choice([str(rng.choice([0, 1, 2, 2.5, -3, 7, 10])), f"'{rng.choice(CONSTANTS)}'"])


def _path(rng: Random, depth: int) -> str:
    text = rng.choice(["/", "//", "", ".//", "../", ""]) + _step(rng, depth)
    while rng.random() < 0.5:
        text += rng.choice(["/", "//"]) + _step(rng, depth)
    return text


def _step(rng: Random, depth: int) -> str:
    axis = rng.choice(_AXES)
    test = rng.choice(("i", "j", "p:k", "*", "q:i", "p:*", "xmlnsi")) if axis == "@" else rng.choice(_TESTS)
    if axis != "@" and rng.random() < 0.12:
        test = rng.choice(["text()", "node()", "comment()", "processing-instruction()"])
    if axis != "@" and rng.random() < 0.04:
        axis, test = "namespace::", rng.choice(["p", "q", "xml", "*"])
    predicates = ""
    while depth > 0 and rng.random() < 0.35:
        predicates += f"[{random_expression(rng, depth - 1)}]"
    return axis + test + predicates
