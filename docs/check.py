"""Checks that the docs tell the truth: links lead somewhere, named files exist, every example does what it says.

    python docs/check.py [--no-examples] [PAGE ...]          all pages, if none is named

What is run, page by page and from top to bottom:

- ```python blocks, in one namespace for each page; lines with `>>>` are compared with what the page shows.
- ```console blocks: each line that starts with `$` is run in a scratch folder, one for each page, and what it prints is
  compared with the lines below it. `...` stands for anything.
- blocks in a query language (```sparql, ```rules, ...) are compiled, with the `prefixes` that the page's Python has
  set. A block marked `refused` must be refused as unsupported, one marked `wrong` as a syntax error.
"""

from __future__ import annotations

import atexit
import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from warm import WarmCommand

ROOT = Path(__file__).resolve().parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_FENCE = re.compile(r"^```(\w+)[ \t]*([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANY_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_PATH = re.compile(r"`((?:tests|docs|src)/[\w./-]+)`")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: the word after the fence, what follows it, the text, and where it starts."""

    kind: str
    mark: str
    text: str
    line: int


def pages() -> list[Path]:
    """Every page of the project."""
    return [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(ROOT.glob("docs/*.md"))


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page."""
    for match in _FENCE.finditer(text):
        yield Block(match[1], match[2].strip(), match[3], text.count("\n", 0, match.start()) + 2)


def broken_links(page: Path) -> Iterator[str]:
    """The links to other files, and to headings in them, that lead nowhere."""
    for target in _LINK.findall(_ANY_FENCE.sub("", page.read_text(encoding="utf-8"))):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists():
            yield f"{page.name}: the link to {target} leads nowhere"
        elif anchor and anchor not in anchors(file):
            yield f"{page.name}: {name or 'this page'} has no heading #{anchor}"


def absent_files(page: Path) -> Iterator[str]:
    """The files and folders of the repository that a page names, and that are not there."""
    for name in _PATH.findall(page.read_text(encoding="utf-8")):
        if not (ROOT / name).exists():
            yield f"{page.name}: there is no {name}"


def anchors(page: Path) -> set[str]:
    """The names by which a page's headings can be linked to, as GitHub makes them."""
    headings = _HEADING.findall(_ANY_FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def failures(page: Path) -> Iterator[str]:
    """What a page's examples do differently from what the page says."""
    from triplewire.languages import LANGUAGES

    namespace: dict[str, Any] = {"__name__": page.stem}
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch):
        for block in blocks(page.read_text(encoding="utf-8")):
            where = f"{page.name}, line {block.line}"
            if block.kind == "python":
                yield from _python(block, where, namespace)
            elif block.kind == "console":
                yield from _console(block, where)
            elif block.kind in LANGUAGES:
                yield from _query(block, where, namespace.get("prefixes"))


def _python(block: Block, where: str, namespace: dict[str, Any]) -> Iterator[str]:
    if ">>>" not in block.text:
        try:
            with redirect_stdout(StringIO()):
                exec(compile(block.text, where, "exec"), namespace)
        except Exception as error:
            yield f"{where}: {type(error).__name__}: {error}"
        return
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(block.text, namespace, where, where, block.line - 1)
    test.globs = namespace
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False)
    if said:
        yield "".join(said)


def _console(block: Block, where: str) -> Iterator[str]:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    folders = [str(Path(sys.executable).parent), environment["PATH"]]
    if "triplewire " in block.text:
        folders.insert(0, str(_warm().folder))
    environment["PATH"] = os.pathsep.join(folders)
    for command, wanted in _commands(block.text):
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL, check=False
        )
        got = done.stdout + done.stderr
        if not doctest.OutputChecker().check_output(wanted, got, FLAGS):
            yield f"{where}: $ {command}\nthe page says:\n{wanted}\nit prints:\n{got}"


@cache
def _warm() -> WarmCommand:
    """One for all pages; started when the first example needs it."""
    found = WarmCommand()
    atexit.register(found.close)
    return found


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, continued lines joined, each with what it should print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command = re.match(r"(?:.*\\\n)*.*\n", part)
        assert command
        yield command[0].strip(), part[command.end() :].rstrip() + "\n" if part[command.end() :].strip() else ""


def _query(block: Block, where: str, prefixes: dict[str, str] | None) -> Iterator[str]:
    from triplewire import errors
    from triplewire.languages import compile as compile_query

    wanted = {"refused": errors.UnsupportedQuery, "wrong": errors.QuerySyntaxError}.get(block.mark)
    try:
        compile_query(block.text, language=block.kind, prefixes=prefixes)
    except errors.TriplewireError as error:
        if wanted is None or not isinstance(error, wanted):
            yield f"{where}: {type(error).__name__}: {error}"
    else:
        if wanted is not None:
            yield f"{where}: this should have been {block.mark}"


def main(arguments: list[str]) -> int:
    """Check the pages; 0 if they are true."""
    found = 0
    runs = "--no-examples" not in arguments
    names = [argument for argument in arguments if argument != "--no-examples"]
    for page in [Path(name).resolve() for name in names] or pages():
        problems = [*broken_links(page), *absent_files(page), *(failures(page) if runs else ())]
        print(f"{'wrong' if problems else 'ok':<6}{os.path.relpath(page, ROOT)}")
        for problem in problems:
            print(problem)
        found += len(problems)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
