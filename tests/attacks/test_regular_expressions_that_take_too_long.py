"""Every regular expression of the project on texts made to hurt it: none takes much more than linear time.

A text that hurts repeats a piece that a loop can take, and ends so that the whole fails. The pieces are made of the
expression's own characters, alone and in pairs.
"""

import ast
import importlib
import re
from itertools import product
from pathlib import Path
from time import process_time

import pytest

import triplewire

SOURCE = Path(triplewire.__file__).parent
SEARCHES = {"search", "findall", "finditer", "sub", "subn", "split"}
LONG = 3_000
SLOW = 0.02
"""Seconds for so many characters: what is linear takes a few milliseconds."""


CANONICAL = {
    "triplewire.documents.xml._MARKUP",
    "triplewire.matching.xml.scanning._ASIDE",
    "triplewire.matching.xml.scanning._ATTRIBUTE",
}
"""They read XML that we wrote, in canonical form: what is opened there is closed, and every attribute has a value."""


def expressions():
    """The compiled expressions of all modules, each with whether the module searches with it, or matches at a place."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "re.compile" not in text or "pyspark" in text:
            continue
        name = ".".join(("triplewire", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        used = {
            node.value.id
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in SEARCHES
        }
        for label, value in vars(importlib.import_module(name)).items():
            if isinstance(value, re.Pattern) and label in text and f"{name}.{label}" not in CANONICAL:
                yield pytest.param(value, label in used, id=f"{name}.{label}")


def pieces(expression):
    plain = expression.pattern if isinstance(expression.pattern, str) else expression.pattern.decode("latin-1")
    characters = sorted({*re.sub(r"\\.", "", plain), *" \t<>\"'a0_;=:&-.\\"} - {*"[](){}?*+|^$"})
    some = [*characters, "<!--", "<?", "xmlns", "base ", '""', "prefix ", "<a:a", "_:a ", "%41", "\\u0041"]
    some += ["".join(pair) for pair in product('<">; a=.:', repeat=2)]
    return some


@pytest.mark.parametrize(("expression", "searches"), list(expressions()))
def test_expression_takes_about_linear_time(expression, searches):
    is_text = isinstance(expression.pattern, str)
    starts = ("", '<a b="')
    for start, piece in product(starts, pieces(expression)):
        text = start + piece * (LONG // len(piece)) + "\0"
        data = text if is_text else text.encode("utf-8")
        began = process_time()
        if searches:
            expression.sub("" if is_text else b"", data)
        else:
            expression.match(data)
        if process_time() - began > SLOW:  # once more: what else the machine does may be to blame
            began = process_time()
            expression.sub("" if is_text else b"", data) if searches else expression.match(data)
            assert process_time() - began < SLOW, (start, piece)
