"""Every regular expression of the project on texts made to hurt it: none takes more than about linear time.

A text that hurts repeats a piece that a loop can take, and ends so that the whole fails. The pieces are made of
the expression's own characters, alone and in pairs. Eight times the text may take some thirty times as long before an
expression is called slow, so that a busy machine is no reason: what is quadratic takes sixty-four times.
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
LONG = 6_000
SLOW = 0.06
"""Seconds for so many characters: what is linear takes a few milliseconds."""


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
            if isinstance(value, re.Pattern) and label in text:
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
    starts = ("", '<a b="', "<?xml ")
    for start, piece in product(starts, pieces(expression)):
        text = start + piece * (LONG // len(piece)) + "\0"
        data = text if is_text else text.encode("utf-8")
        began = process_time()
        if searches:
            expression.sub("" if is_text else b"", data)
        else:
            expression.match(data)
            expression.fullmatch(data)
        assert process_time() - began < SLOW, (start, piece)
