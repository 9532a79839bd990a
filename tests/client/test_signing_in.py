"""Signing commands in: by a code that somebody confirms, by a link, with a token; and out."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordito.cli.main import run
from ordito.client.servers import servers_file
from tests.support.serving import Client, Served

ORDITO = [sys.executable, "-m", "ordito"]


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A server for this test alone."""
    with Served(tmp_path / "home") as server:
        yield server


def kept() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(servers_file().read_text())["servers"]
    return found


def test_by_the_link_of_the_first_start(own: Served, capsys: pytest.CaptureFixture[str]) -> None:
    link = f"{own.url}/sign-in#{own.link}"
    assert run(["login", link, "--as", "team"]) == 0
    me = kept()["team"]["user"]
    assert capsys.readouterr().out == f"Signed in as {me} at {own.url} (team).\n"
    assert servers_file().stat().st_mode & 0o777 == 0o600
    assert run(["--server", "team", "-o", "json", "whoami"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == me
    # A link works once, and its session is over.
    assert run(["login", link]) == 10
    assert Client(own.url, kept()["team"]["token"]).get("sessions")["items"] == []


def test_by_a_code_that_another_command_confirms(
    own: Served, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = own.admin()
    with subprocess.Popen([*ORDITO, "login", own.url, "--as", "team"], stdout=-1, stderr=-1, text=True) as waiting:
        assert waiting.stderr is not None
        found = re.search(r"The code is ([A-Z]{4}-[A-Z]{4}), for 10 minutes", waiting.stderr.readline())
        assert found
        assert waiting.stderr.readline().endswith(f" {own.url}/device\n")
        monkeypatch.setenv("ORDITO_TOKEN", admin.token)
        assert run(["--server", own.url, "login", "--confirm", found[1]]) == 64
        assert run(["--server", own.url, "--yes", "login", "--confirm", found[1].lower()]) == 0
        out, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert "Signed in as" in out
    monkeypatch.delenv("ORDITO_TOKEN")
    assert run(["--server", "team", "tokens", "list"]) == 0
    assert "ordito on " in capsys.readouterr().out
    # Nobody gets it a second time.
    monkeypatch.setenv("ORDITO_TOKEN", admin.token)
    assert run(["--server", own.url, "-o", "json", "--yes", "login", "--confirm", found[1]]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "unknown-login"
    actions = [deed["action"] for deed in admin.get("audit")["items"]]
    assert {"login.begin", "login.confirm", "login.end"} <= {*actions}
    assert kept()["team"]["token"] not in (own.home / "server.log").read_text()


def test_codes_are_bounded(own: Served) -> None:
    admin = own.admin()
    nobody = Client(own.url)
    begun = [nobody.do("POST", "logins", {"name": "x"}) for _ in range(20)]
    assert nobody.ask("POST", "logins", {"name": "x"}).data["code"] == "too-many"
    one = begun[0]
    assert re.fullmatch("[BCDFGHJKMNPQRSTVWXZ]{8}", one["code"])
    path, secret = f"logins/{one['id']}", {"Ordito-Login": one["secret"]}
    assert nobody.ask("GET", path).status == 404
    assert nobody.ask("GET", path, headers={"Ordito-Login": begun[1]["secret"]}).status == 404
    assert nobody.ask("GET", path, headers=secret).data["token"] is None
    # Without signing in nothing can be confirmed, and not with another code.
    assert nobody.ask("POST", f"{path}/confirm", {"code": one["code"]}).status == 401
    assert admin.ask("POST", f"{path}/confirm", {"code": begun[1]["code"]}).status == 404
    with sqlite3.connect(own.home / "server.db") as db:
        db.execute("UPDATE login SET expires = 1 WHERE id = ?", (one["id"],))
    assert nobody.ask("GET", path, headers=secret).data["code"] == "unknown-login"
    assert admin.ask("POST", f"{path}/confirm", {"code": one["code"]}).status == 404
    assert admin.ask("GET", "logins", code=one["code"]).status == 404
    codes = [admin.ask("GET", "logins", code="B" * 8).status for _ in range(8)]
    assert codes[0] == 404
    assert codes[-1] == 429


def test_narrowed_tokens_and_accounts_confirm_nothing(own: Served) -> None:
    admin = own.admin()
    narrow = admin.with_token(admin.do("POST", "me/tokens", {"name": "n", "role": "viewer"})["token"])
    made = Client(own.url).do("POST", "logins", {"name": "x"})
    assert narrow.ask("GET", "logins", code=made["code"]).status == 403
    assert narrow.ask("POST", f"logins/{made['id']}/confirm", {"code": made["code"]}).status == 403


def test_with_a_token_that_is_there(
    own: Served, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    admin = own.admin()
    given = tmp_path / "token"
    for text, code in (("ordito_u_wrong", 10), ("", 10), (admin.token, 0)):
        given.write_text(f"{text}\n")
        with given.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            assert run(["login", own.url, "--token-stdin"]) == code
    assert kept()[own.url.removeprefix("http://")]["token"] == admin.token
    assert run(["logout", own.url]) == 0
    assert kept() == {}
    assert admin.ask("GET", "me").status == 401
    capsys.readouterr()
    assert run(["-o", "json", "logout", own.url]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "bad-server"


def test_without_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["whoami"], ["projects", "list"], ["users", "list"], ["audit"], ["login"], ["logout"]):
        assert run(["-o", "json", *words]) == 3, words
        assert json.loads(capsys.readouterr().out)["error"]["code"] == "needs-server", words


def test_a_damaged_file_of_servers(capsys: pytest.CaptureFixture[str]) -> None:
    servers_file().parent.mkdir(parents=True)
    servers_file().write_text("{")
    assert run(["--server", "team", "-o", "json", "whoami"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "bad-server"
