"""One word for one thing: a class that others may use has a name that no other class has."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "triplewire"


def test_each_public_class_has_a_name_of_its_own():
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert len(places) > 500
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
