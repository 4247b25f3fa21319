"""The README and every page of the docs are true: links resolve and examples run."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))]


ON_SPARK = ("docs/streaming.md", "docs/pipeline.md")
"""Pages whose every example starts a Spark of its own."""


def check(*arguments):
    command = [sys.executable, str(ROOT / "docs" / "check.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] if page in ON_SPARK else []) for page in PAGES]
)
def test_page_has_no_dead_link_and_names_no_absent_file_and_every_example_on_it_runs(page):
    done = check(page)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", ON_SPARK)
def test_page_about_spark_has_no_dead_link_and_names_no_absent_file(page):
    done = check("--no-examples", page)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "[there](nowhere.md)",
        "[there](#no-such-heading)",
        "see `tests/no_such_file.py`",
        "```python\n>>> 1 + 1\n3\n```",
        "```python\nraise ValueError\n```",
        "```console\n$ echo one\ntwo\n```",
        "```sparql\nSELECT nothing\n```",
        "```sparql refused\nSELECT ?s { ?s ?p ?o }\n```",
    ],
)
def test_check_of_the_docs_notices_what_is_wrong(text, tmp_path):
    """The check itself can fail: each of these pages is wrong in one way."""
    page = tmp_path / "page.md"
    page.write_text(text + "\n")
    assert check(page).returncode == 1
