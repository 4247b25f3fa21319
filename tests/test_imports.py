"""Imports go one way, and the core stays light.

The order is the one that docs/design.md draws: a package may import those in the rows above its own, and nothing else.
A sub-package with a row of its own is not part of its parent here.
"""

import ast
import re
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
    ("network.link",),
    ("network.node",),
    ("network.exchange",),
    ("network.channels",),
    ("edge", "backbone"),
    ("",),  # triplewire itself: the public names, each loaded when it is first asked for
    ("feeds", "outbound", "isolation"),
    ("deliver", "polling"),
    ("pipeline", "network"),
    ("hub",),
    ("demo",),
    ("cli",),
)
NAME_OF_A_MODULE = re.compile(r"triplewire(\.\w+)+(:\w+)?")
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
        "network/maps",
        "network/routing",
        "network/membership",
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
    return place_of(".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").rstrip("."))


def place_of(module):
    """The row of a module, which is written without the name of the whole: its sub-package, if that has one."""
    parts = module.split(".")
    return next((name for n in (2, 1) if (name := ".".join(parts[:n])) in LEVEL), parts[0])


def is_module(name):
    path = SOURCE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def imported_by(path):
    """The names of the modules that a file imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute, so that a reader sees where a name lives"
            yield node.module
            if node.module.partition(".")[0] == "triplewire":
                yield from (name for a in node.names if is_module(name := f"{node.module}.{a.name}"))


def named_by(source):
    """The modules of ours that a program has as texts, and the packages in which it looks one up by its name."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    loggers = {text for call in calls if ast.unparse(call.func).endswith("getLogger") for text in texts_of(call)}
    for text in texts_of(ast.parse(source)):
        if NAME_OF_A_MODULE.fullmatch(text) and is_module(text.partition(":")[0]) and text not in loggers:
            yield text.partition(":")[0]
    for call in calls:
        if ast.unparse(call.func).endswith("import_module") and isinstance(call.args[0], ast.JoinedStr):
            yield from (text.rstrip(".") for text in texts_of(call.args[0].values[0]))


def texts_of(tree):
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def packages_among(names):
    for name in names:
        first, _, rest = name.partition(".")
        if first == "triplewire":
            yield place_of(rest)


def packages_imported_by(path):
    return packages_among(imported_by(path))


def not_above(own, packages):
    return {name for name in packages if name != own and LEVEL.get(name, 99) >= LEVEL[own]}


def test_every_package_has_a_place_in_the_order():
    assert {package_of(path) for path in modules()} <= LEVEL.keys()


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_module_imports_only_packages_above_its_own(path):
    own = package_of(path)
    wrong = not_above(own, packages_imported_by(path))
    assert not wrong, f"{own or 'triplewire'} must not import {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_module_names_in_a_text_only_packages_above_its_own(path):
    """What is loaded by its name (`import_module`) is imported as well, and no way around the order."""
    own = package_of(path)
    wrong = not_above(own, packages_among(named_by(path.read_text(encoding="utf-8"))))
    assert not wrong, f"{own or 'triplewire'} must not load {', '.join(sorted(wrong))}"


@pytest.mark.parametrize(
    ("source", "packages"),
    [
        ('HOME = "triplewire.network.live.hub"\nimport_module(HOME)', ["network"]),
        ('import_module("triplewire.network.channels.uplinks")', ["network.channels"]),
        ('importlib.import_module(f"triplewire.hub.{name}")', ["hub"]),
        ('import_module(f"triplewire.{name}")', [""]),
        ('FORMAT = "triplewire.tables.arrow:Parquet"', ["tables"]),
        ('log = logging.getLogger("triplewire.network")\nCALL = "triplewire.publish"', []),
    ],
)
def test_module_that_is_loaded_by_its_name_is_seen(source, packages):
    assert [*packages_among(named_by(source))] == packages


def test_sub_package_may_be_below_what_its_parent_is_above():
    assert not_above("edge", ["network", "network.channels", "engine", "hub"]) == {"network", "hub"}
    assert not_above("network.channels", ["network.link", "edge"]) == {"edge"}


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

NOT_OF_A_CHANNEL = ("triplewire.hub", "triplewire.network.live", "triplewire.network.simulation")
NOT_OF_AN_EDGE = ("websockets", "cryptography", "triplewire.network.link", *NOT_OF_A_CHANNEL)
"""What is above, and what only an edge that dials an address needs."""

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
        ("import triplewire.edge", NOT_OF_AN_EDGE),
        ("import triplewire.network.channels.uplinks", ("triplewire.edge", *NOT_OF_A_CHANNEL)),
        ("import triplewire.hub.sparql.process", NOT_OF_AN_ANSWERER),
        ("from triplewire.cli import main; sys.argv = ['triplewire', '--help']; main()", NOT_OF_A_HELP),
        (
            "from triplewire.cli import main; sys.argv = ['triplewire', 'rows', 'http://127.0.0.1:9', 'x']; main()",
            NOT_OF_A_CLIENT,
        ),
    ],
    ids=["client", "edge", "channels", "answers of SPARQL", "help", "rows of an address"],
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
