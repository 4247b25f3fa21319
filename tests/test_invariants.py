"""Each `Invariant: …` of the code is named by a test, whose docstring says ``Invariant of `package.module`: …``."""

import ast
import re
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src" / "triplewire"
NAMED = re.compile(r"\bInvariant of `([\w.]+)`: ")


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def stated() -> Counter[str]:
    """How many invariants each module of the code states."""
    texts = {module_of(path): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    return +Counter({module: text.count("Invariant:") for module, text in texts.items()})


def shown() -> Counter[str]:
    """How many tests say that they show an invariant of each module."""
    found: Counter[str] = Counter()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.update(set(NAMED.findall(ast.get_docstring(node) or "")))
    return found


def test_each_invariant_of_the_code_is_named_by_a_test():
    assert stated().total() > 40
    assert stated() - shown() == Counter(), "write a test that fails without it, and name it in the docstring"


def test_no_test_names_a_module_without_invariants():
    assert shown().keys() - stated().keys() == set()
