"""The verbs about what only a server has."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ordito.cli.main import run
from tests.support.serving import Client, Served

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Client]]:
    with Served(tmp_path_factory.mktemp("own")) as server:
        admin = server.admin()
        admin.do("POST", "projects", {"name": "default"})
        yield server, admin


@pytest.fixture
def ask(own: tuple[Served, Client], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Gives a command to the server: its result, or its error."""
    monkeypatch.setenv("ORDITO_SERVER", own[0].url)
    monkeypatch.setenv("ORDITO_TOKEN", own[1].token)

    def ask(*words: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert run(["-o", "json", *words]) == code, capsys.readouterr()
        found = json.loads(capsys.readouterr().out)
        return found if code == 0 else found["error"]

    return ask


def test_projects_and_their_members(ask: Ask, own: tuple[Served, Client]) -> None:
    me = own[1].get("me")["name"]
    ask("projects", "create", "office", "--description", "what it needs")
    assert ask("projects", "create", "office", code=3)["code"] == "exists"
    assert [one["name"] for one in ask("projects", "list")["projects"]] == ["default", "office"]
    ask("users", "create", "ann")
    given = ask("projects", "members", "office", "--give", "user:ann=deployer", "--give", f"user:{me}=owner")["members"]
    assert {(one["who"], one["role"]) for one in given} == {("ann", "deployer"), (me, "owner")}
    left = ask("projects", "members", "office", "--take", "user:ann=deployer")["members"]
    assert [one["who"] for one in left] == [me]
    assert ask("projects", "members", "office", "--give", "user:nobody=owner", code=3)["code"] == "unknown-user"
    ask("projects", "remove", "office")
    assert ask("projects", "members", "office", code=3)["code"] == "unknown-project"


def test_users_and_groups(ask: Ask, own: tuple[Served, Client], tmp_path: Path) -> None:
    link = ask("users", "create", "ben", "--auditor")["link"]
    assert "#" in link
    assert [one["auditor"] for one in ask("users", "list")["users"] if one["name"] == "ben"] == [True]
    ask("groups", "set", "ops", "ben")
    assert ask("groups", "list")["groups"] == [{"name": "ops", "members": ["ben"]}]
    assert ask("groups", "set", "ops", "nobody", code=3)["code"] == "unknown-user"
    ask("groups", "remove", "ops")
    ask("users", "change", "ben", "--disable")
    assert [one["disabled"] for one in ask("users", "list")["users"] if one["name"] == "ben"] == [True]
    ask("users", "remove", "ben")
    me = own[1].get("me")["name"]
    assert ask("users", "change", me, "--no-admin", code=3)["code"] == "last-admin"
    written = tmp_path / "audit.ndjson"
    ask("audit", "--out", str(written))
    actions = [json.loads(line)["action"] for line in written.read_text().splitlines()]
    assert {"user.make", "group.set", "user.remove"} <= {*actions}
    assert [one["action"] for one in ask("audit", "--action", "group.set")["deeds"]] == ["group.set"]
    assert len(ask("audit", "--most", "3")["deeds"]) == 3


def test_tokens_and_service_accounts(ask: Ask, own: tuple[Served, Client]) -> None:
    made = ask("tokens", "create", "monitor", "--days", "30", "--role", "viewer")
    assert own[1].with_token(made["token"]).get("me")["name"]
    assert made["id"] in [one["id"] for one in ask("tokens", "list")["tokens"]]
    assert all("token" not in one for one in ask("tokens", "list")["tokens"])
    ask("tokens", "remove", made["id"])
    assert own[1].with_token(made["token"]).ask("GET", "me").status == 401
    ask("accounts", "create", "ci")
    of_account = ask("tokens", "create", "pipeline", "--account", "ci")
    [account] = ask("accounts", "list")["accounts"]
    assert [one["id"] for one in account["tokens"]] == [of_account["id"]]
    ask("tokens", "remove", of_account["id"], "--account", "default/ci")
    ask("accounts", "remove", "ci")
    assert ask("accounts", "list")["accounts"] == []


def test_ensembles(ask: Ask, tmp_path: Path, shop: Path) -> None:
    directory = tmp_path / "shop"
    shutil.copytree(shop, directory)
    ask("ensembles", "create", "more", str(directory))
    assert [(one["project"], one["name"]) for one in ask("ensembles", "list")["ensembles"]] == [("default", "more")]
    assert ask("ensembles", "show", "more")["ensemble"]["exists"]
    assert ask("status")["service"] == "shop"
    assert ask("ensembles", "create", "x", str(tmp_path), code=3)["code"] == "no-ensemble"
    assert ask("ensembles", "remove", "default/more", code=3)["code"] == "instances-exist"
    unanswered = ask("ensembles", "remove", "default/more", "--forget", "2", "--no-input", code=64)
    assert unanswered["code"] == "needs-answer"
    ask("ensembles", "remove", "default/more", "--forget", "2", "--yes")
    assert ask("ensembles", "list", "default")["ensembles"] == []
    assert ask("status", code=3)["code"] == "no-ensemble"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["projects", "list"], "PROJECT  YOU MAY"),
        (["projects", "members", "default"], "none"),
        (["ensembles", "list"], "default/shop  shop"),
        (["ensembles", "show", "shop"], "default/shop\n"),
        (["users", "list"], "USER"),
        (["groups", "list"], "none"),
        (["tokens", "list"], "TOKEN"),
        (["accounts", "list"], "none"),
        (["audit"], "token.make"),
        (["whoami"], "user "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_text(
    admin: Client, words: list[str], shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ORDITO_TOKEN", admin.token)
    assert run(["--server", admin.url, *words]) == 0
    assert shown in capsys.readouterr().out
