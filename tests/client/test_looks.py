"""Looks at a server are those at a directory: the same text, data, exit codes and refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ordito.cli.grammar import VerbGroup, root
from ordito.cli.main import run
from ordito.cli.places import AT_SERVER, LOCAL_ONLY, ON_THIS_MACHINE
from ordito.client.looks import PATHS
from ordito.results.looks import LOOKS
from tests.support.serving import Client

SAMPLES = {
    "status": [["status"], ["status", "--all"], ["status", "-v"], ["status", "--detailed-exitcode"]],
    "describe": [["describe", "web"], ["describe", "db_1"], ["describe", "node:web"]],
    "revisions": [["revisions"]],
    "jobs list": [["jobs", "list"]],
    "jobs show": [["jobs", "show"], ["jobs", "show", "A"]],
    "workflow list": [["workflow", "list"]],
    "workflow show": [["workflow", "show", "inspect"]],
    "policy list": [["policy", "list"]],
    "policy show": [["policy", "show", "relief"]],
    "hosts list": [["hosts", "list"], ["hosts", "list", "one"]],
    "spec": [["spec"], ["--env", "", "spec"]],
    "output": [["output"], ["output", "motto"]],
    "secrets list": [["secrets", "list"]],
    "state show": [["state", "show"], ["state", "show", "web_1", "db"]],
    "state export": [["state", "export"], ["state", "export", "web"]],
    "diff": [["diff"], ["diff", "-i", "motto=other"], ["diff", "--replace", "db", "--detailed-exitcode"]],
}
REFUSED = [
    *(["describe", "wep"], ["jobs", "show", "ZZ"], ["workflow", "show", "none"], ["policy", "show", "none"]),
    *(["hosts", "list", "nowhere"], ["--env", "none", "spec"]),
    *(["output", "moto"], ["state", "show", "wep"], ["diff", "-i", "moto=1"], ["diff", "--replace", "none"]),
]
CASES = [words for samples in SAMPLES.values() for words in samples]


class Twice:
    """Gives a command here, in the directory of the ensemble, and to its server."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], admin: Client) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self._admin = admin

    def here(self, *words: str) -> tuple[int, str, str]:
        self._monkeypatch.delenv("ORDITO_SERVER", raising=False)
        return self._outcome(*words)

    def there(self, *words: str) -> tuple[int, str, str]:
        self._monkeypatch.setenv("ORDITO_SERVER", self._admin.url)
        self._monkeypatch.setenv("ORDITO_TOKEN", self._admin.token)
        return self._outcome(*words)

    def _outcome(self, *words: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = run([*words])
        return (code, *self._capsys.readouterr())


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], admin: Client, shop: Path) -> Twice:
    monkeypatch.chdir(shop)
    return Twice(monkeypatch, capsys, admin)


def test_every_look_is_asked_here() -> None:
    # A report is a file, and is tried with jobs.
    assert {*SAMPLES, "jobs report"} == AT_SERVER & {*LOOKS, "policy show"} - {"packages show"}
    # What differs is asked with the whole request of an upgrade; notices are looked at while one is followed.
    # The texts that are given to an ensemble are shown by verbs of other names.
    others = {"notifications", "spec text", "hosts text"}
    assert {*PATHS} - others == {*LOOKS} & {*AT_SERVER} - {"diff", "jobs report", "packages show"}


@pytest.mark.parametrize(
    "form", [[], ["-o", "json"], ["-o", "yaml"], ["--json"]], ids=["text", "json", "yaml", "events"]
)
@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_the_output_is_the_same(twice: Twice, words: list[str], form: list[str]) -> None:
    here = twice.here(*form, *words)
    assert twice.there(*form, *words) == here
    assert here[0] in (0, 2), here


@pytest.mark.parametrize("form", [[], ["-o", "json"]], ids=["text", "json"])
@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_refusals_are_the_same(twice: Twice, words: list[str], form: list[str]) -> None:
    here = twice.here(*form, *words)
    assert twice.there(*form, *words) == here
    assert here[0] == 3


def _verbs(words: tuple[str, ...], command: click.Command | None) -> Iterator[str]:
    """The verbs of a group, and of the groups in it."""
    if isinstance(command, VerbGroup):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from _verbs((*words, name), command.get_command(context, name))
    else:
        yield " ".join(words)


def test_every_verb_has_its_place() -> None:
    command = root()
    assert isinstance(command, VerbGroup)
    names = set(_verbs((), command))
    assert sorted(names) == sorted([*AT_SERVER, *ON_THIS_MACHINE, *LOCAL_ONLY])


def test_what_needs_the_machine_of_the_server_is_refused(twice: Twice) -> None:
    code, out, _ = twice.there("-o", "json", "secrets", "get", "x")
    error = json.loads(out)["error"]
    assert (code, error["code"]) == (3, "local-only")
    assert "key" in error["message"]
    code, out, _ = twice.there("-o", "json", "--hosts", "hosts.yaml", "hosts", "list")
    assert (code, json.loads(out)["error"]["code"]) == (3, "local-only")


def test_what_works_on_files_here_does_so_with_a_server_too(twice: Twice, shop: Path) -> None:
    for words in (
        ["validate", str(shop.parent / "service.yaml")],
        ["fmt", "--check", str(shop.parent / "service.yaml")],
    ):
        assert twice.there(*words)[:2] == twice.here(*words)[:2]


def test_the_only_ensemble_needs_no_name(
    admin: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ORDITO_TOKEN", admin.token)
    assert run(["--server", admin.url, "-o", "json", "status"]) == 0
    assert "web_1" in json.loads(capsys.readouterr().out)["instances"]


def test_an_ensemble_that_is_not_there(twice: Twice, capsys: pytest.CaptureFixture[str]) -> None:
    for name, code in (("nothing", "unknown-ensemble"), ("none/shop", "unknown-project"), ("./a/b", "no-ensemble")):
        found, out, _ = twice.there("-o", "json", "-e", name, "status")
        assert (found, json.loads(out)["error"]["code"]) == (3, code)
