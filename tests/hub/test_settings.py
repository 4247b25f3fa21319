"""Settings: from a file, from variables, from the command line; what means nothing is refused with a hint."""

from __future__ import annotations

import pytest

from triplewire.cli.commands.serve import settings_of
from triplewire.errors import ServiceError
from triplewire.hub import Settings
from triplewire.hub.settings import TenantSettings


def test_command_line_counts_more_than_variables_and_these_more_than_the_file(tmp_path, monkeypatch):
    file = tmp_path / "hub.toml"
    file.write_text('store = "file.db"\nport = 1\nhost = "::1"\nstreams = 7\n[quotas]\ndocuments = 5\n')
    monkeypatch.setenv("TRIPLEWIRE_PORT", "2")
    monkeypatch.setenv("TRIPLEWIRE_HOST", "localhost")
    monkeypatch.setenv("TRIPLEWIRE_IDENTITY", "true")
    monkeypatch.setenv("TRIPLEWIRE_TOKEN", "of a client")
    found = settings_of({"port": 3, "host": None}, file)
    assert (found.store, found.port, found.host, found.streams) == ("sqlite:///file.db", 3, "localhost", 7)
    assert (found.identity, found.quotas.documents, found.pipeline) == (True, 5, "spark")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prot": 1}, "do you mean 'port'"),
        ({"port": "8080"}, "must be of type int"),
        ({"pipeline": "sparc"}, "one of engine, spark, none"),
        ({"streams": -1}, "must not be negative"),
        ({"zzz": 1}, "there are: store, host"),
    ],
)
def test_setting_that_means_nothing_is_refused(given, words):
    with pytest.raises(ServiceError, match=words):
        Settings.of(given)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("TRIPLEWIRE_PROT", "1", "TRIPLEWIRE_PROT: there is no such setting; do you mean 'port'"),
        ("TRIPLEWIRE_PORT", "many", "must be of type int"),
        ("TRIPLEWIRE_IDENTITY", "perhaps", "must be of type bool"),
    ],
)
def test_variable_that_means_nothing_is_refused(variable, value, words):
    with pytest.raises(ServiceError, match=words):
        Settings.of_environment({variable: value})


def test_plain_settings_are_the_same_settings():
    own = {"north": TenantSettings("sqlite:///n.db", events=7)}
    settings = Settings(store="sqlite:///x.db", port=1, spark_from=3, certificate="c.pem", tenants=own)
    assert Settings.of(settings.plain()) == settings
