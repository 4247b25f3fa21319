"""Imports go one way, and the core stays light.

The order is the one that docs/design.md draws: a package may import those in the rows above its own, and nothing else.
"""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "triplewire"

ORDER = (
    ("errors",),
    ("model",),
    ("documents", "algebra", "tables"),
    ("languages", "matching", "schema", "wire"),
    ("store", "client"),
    ("intake",),
    ("engine",),
    ("edge", "backbone"),
    ("",),  # triplewire itself: the public names, each loaded when it is first asked for
    ("feeds", "outbound", "isolation"),
    ("deliver", "polling"),
    ("pipeline", "network"),
    ("hub",),
    ("demo",),
    ("cli",),
)
LEVEL = {package: level for level, packages in enumerate(ORDER) for package in packages}

HEAVY = (
    "feedparser",
    "lxml",
    "pyspark",
    "fastapi",
    "starlette",
    "uvicorn",
    "sqlalchemy",
    "psycopg",
    "httpx",
    "numba",
    "llvmlite",
    "rdflib",
)
"""What importing the core must not load: nobody pays for Spark, web, SQL or a compiler before using them."""

PURE = (
    *("model", "documents", "algebra", "languages", "matching", "schema", "wire"),
    *(
        "network/link",
        "network/node",
        "network/exchange",
        "network/routing",
        "network/hypercube",
        "network/hierarchy",
        "network/ring",
    ),
)
FORBIDDEN_IN_PURE = {
    "socket",
    "urllib.request",
    "http",
    "requests",
    "httpx",
    "sqlite3",
    "sqlalchemy",
    "pyspark",
    "fastapi",
}


def modules():
    return sorted(SOURCE.rglob("*.py"))


def package_of(path):
    first = path.relative_to(SOURCE).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imported_by(path):
    """The names of the modules that a file imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute, so that a reader sees where a name lives"
            yield node.module
            if node.module == "triplewire":
                yield from (f"triplewire.{a.name}" for a in node.names if (SOURCE / a.name).is_dir())


def packages_imported_by(path):
    for name in imported_by(path):
        first, _, rest = name.partition(".")
        if first == "triplewire":
            yield rest.split(".")[0]


def test_every_package_has_a_place_in_the_order():
    assert {package_of(path) for path in modules()} <= LEVEL.keys()


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_module_imports_only_packages_above_its_own(path):
    own = package_of(path)
    wrong = {name for name in packages_imported_by(path) if name != own and LEVEL.get(name, 99) >= LEVEL[own]}
    assert not wrong, f"{own or 'triplewire'} must not import {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("package", ["client", "wire"])
def test_client_needs_only_what_crosses(package):
    """Not even later: a client is used where no engine is installed."""
    allowed = {package, "errors", "model", "tables", "wire"}
    for path in (SOURCE / package).rglob("*.py"):
        assert {*packages_imported_by(path)} <= allowed, path.relative_to(SOURCE)


@pytest.mark.parametrize("package", PURE)
def test_pure_package_imports_nothing_that_does_io(package):
    for path in (SOURCE / package).rglob("*.py"):
        wrong = FORBIDDEN_IN_PURE & {*imported_by(path)}
        assert not wrong, f"{path.relative_to(SOURCE)} imports {wrong}"


@pytest.mark.parametrize("package", PURE)
def test_every_package_says_what_it_is_for(package):
    """STYLE: a paragraph in each `__init__`: what comes in, what goes out, what it never does."""
    doc = ast.get_docstring(ast.parse((SOURCE / package / "__init__.py").read_text(encoding="utf-8")))
    assert doc
    assert len(doc) > 80


@pytest.mark.parametrize("module", ["triplewire", "triplewire.cli", "triplewire.demo"])
def test_importing_loads_nothing_heavy(module):
    code = f"import sys, {module}; print(*sorted({set(HEAVY)!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_using_the_core_loads_no_database():
    """Whoever matches documents with an index needs no SQL: it need not even be installed."""
    code = (
        "import sys, triplewire\n"
        "index = triplewire.Index()\n"
        "index.add('a', triplewire.compile('SELECT ?d { ?d <urn:p> <urn:o> }', language='sparql'))\n"
        "assert len(index.match(triplewire.parse('<urn:s> <urn:p> <urn:o> .', uri='urn:d'))) == 1\n"
        "print(*sorted({'sqlalchemy', 'psycopg', 'triplewire.store', 'triplewire.engine'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


NOT_OF_A_CLIENT = (
    *(set(HEAVY) - {"httpx"}),
    "lark",
    "numpy",
    "pyarrow",
    "pandas",
    "xlsxwriter",
    "cryptography",
    "triplewire.algebra",
    "triplewire.deliver",
    "triplewire.documents",
    "triplewire.engine",
    "triplewire.hub",
    "triplewire.languages",
    "triplewire.matching",
    "triplewire.store",
)
"""A client asks a service over HTTP: it needs the words that cross, and nothing of what works them out."""

NOT_OF_AN_ANSWERER = (
    "numba",
    "llvmlite",
    "fastapi",
    "starlette",
    "uvicorn",
    "triplewire.matching",
    "triplewire.engine.hub",
)
"""A service starts a process that answers SPARQL queries when the first one comes, which waits for it."""

NOT_OF_A_HELP = (
    *HEAVY,
    "lark",
    "numpy",
    "pyarrow",
    "triplewire.client",
    "triplewire.engine",
    "triplewire.cli.commands",
)


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        ("import triplewire.client", (*NOT_OF_A_CLIENT, "pydantic")),
        ("import triplewire.hub.sparql.process", NOT_OF_AN_ANSWERER),
        ("from triplewire.cli import main; sys.argv = ['triplewire', '--help']; main()", NOT_OF_A_HELP),
        (
            "from triplewire.cli import main; sys.argv = ['triplewire', 'rows', 'http://127.0.0.1:9', 'x']; main()",
            NOT_OF_A_CLIENT,
        ),
    ],
    ids=["client", "answers of SPARQL", "help", "rows of an address"],
)
def test_only_what_is_needed_is_loaded(code, unwanted):
    """A command that asks one question over HTTP, or only for help, is quick because of what it does not load."""
    told = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\n"
    told += f"print('loaded:', *sorted({set(unwanted)!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == "loaded:"


def test_help_of_the_command_loads_nothing_heavy():
    code = (
        "import sys\nfrom triplewire.cli.app import app\n"
        "try:\n    app(['match', '--help'])\nexcept SystemExit:\n    pass\n"
        f"print('loaded:', *sorted({set(HEAVY)!r} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == "loaded:"
