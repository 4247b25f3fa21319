"""The README and every page of the docs are true: links resolve and examples run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))]


ON_SPARK = ("docs/streaming.md", "docs/pipeline.md")
"""Pages whose every example starts a Spark of its own."""


def check(*arguments: object) -> dict[str, str]:
    """What is wrong with each page, by name; one process for all of them loads what examples need once."""
    command = [sys.executable, str(ROOT / "docs" / "check.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    _, *parts = re.split(r"^(ok|wrong) +(.+)\n", done.stdout, flags=re.MULTILINE)
    found = {page: problems or verdict for verdict, page, problems in zip(*[iter(parts)] * 3, strict=True)}
    assert done.returncode == (set(found.values()) != {"ok"}), done.stderr
    return found


@pytest.fixture(scope="module")
def checked():
    """What is said of all pages whose examples need no Spark."""
    return check(*(page for page in PAGES if page not in ON_SPARK))


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ON_SPARK])
def test_page_has_no_dead_link_and_names_no_absent_file_and_every_example_on_it_runs(checked, page):
    assert checked[page] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("page", ON_SPARK)
def test_every_example_of_a_page_about_spark_runs(page):
    assert check(page) == {page: "ok"}


def test_pages_about_spark_have_no_dead_link_and_name_no_absent_file():
    assert check("--no-examples", *ON_SPARK) == dict.fromkeys(ON_SPARK, "ok")


WRONG = {
    "link": "[there](nowhere.md)",
    "heading": "[there](#no-such-heading)",
    "file": "see `tests/no_such_file.py`",
    "doctest": "```python\n>>> 1 + 1\n3\n```",
    "program": "```python\nraise ValueError\n```",
    "command": "```console\n$ echo one\ntwo\n```",
    "query": "```sparql\nSELECT nothing\n```",
    "refusal": "```sparql refused\nSELECT ?s { ?s ?p ?o }\n```",
}


def test_check_of_the_docs_notices_what_is_wrong(tmp_path):
    """The check itself can fail: each of these pages is wrong in one way."""
    pages = [tmp_path / f"{name}.md" for name in WRONG]
    for page, text in zip(pages, WRONG.values(), strict=True):
        page.write_text(text + "\n")
    found = check(*pages)
    assert len(found) == len(WRONG)
    assert "ok" not in found.values()
