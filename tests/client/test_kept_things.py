"""The verbs about what a server keeps for projects and ensembles: what they make is there, changed and gone again."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ordito.cli.main import run
from ordito.client.connection import ServerConnection
from ordito.client.edits import edited
from ordito.client.errors import ServerError
from tests.support.serving import MANY_REQUESTS, Client, Served

Ask = Callable[..., Any]

SETTINGS = f"{MANY_REQUESTS}egress: [ hooks.example.org, git.example.org ]\n"
HOOK = "https://hooks.example.org/ordito"
SECRET = "canary-9265-of-a-webhook"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, shop: Path) -> Iterator[tuple[Served, Client]]:
    """A server of a deployed ensemble that may be changed."""
    directory = tmp_path_factory.mktemp("kept") / "shop"
    shutil.copytree(shop, directory)
    with Served(tmp_path_factory.mktemp("own"), directory, settings=SETTINGS) as server:
        yield server, server.admin()


@pytest.fixture
def signed_in(own: tuple[Served, Client], monkeypatch: pytest.MonkeyPatch) -> ServerConnection:
    """That server, at which commands are signed in."""
    monkeypatch.setenv("ORDITO_SERVER", own[0].url)
    monkeypatch.setenv("ORDITO_TOKEN", own[1].token)
    return ServerConnection(own[0].url, own[1].token)


@pytest.fixture
def ask(signed_in: ServerConnection, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Gives a command to the server: its result, or its error."""

    def ask(*words: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert run(["-o", "json", *words]) == code, (signed_in.url, capsys.readouterr())
        found = json.loads(capsys.readouterr().out)
        return found if code == 0 else found["error"]

    return ask


@pytest.fixture
def text(signed_in: ServerConnection, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The text of a command that is given to the server."""

    def text(*words: str) -> str:
        capsys.readouterr()
        assert run([*words]) == 0, (signed_in.url, capsys.readouterr())
        return capsys.readouterr().out

    return text


def test_webhooks(ask: Ask, text: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ask("webhooks", "create", "default", HOOK, "--event", "job.ended", "--only", "shop")
    assert len(made["secret"]) >= 16
    named = made["id"]
    assert [one["id"] for one in ask("webhooks", "list")["webhooks"]] == [named]
    shown = ask("webhooks", "show", named)
    assert (shown["url"], shown["events"], shown["ensembles"]) == (HOOK, ["job.ended"], ["shop"])
    assert "secret" not in shown
    posted = ask("webhooks", "test", f"default/{named}")
    assert ask("webhooks", "deliveries", named)["deliveries"][0]["id"] == posted["id"]
    assert ask("webhooks", "again", named, posted["id"])["id"] == posted["id"]
    assert ask("webhooks", "again", named, "dl_0", code=3)["code"] == "unknown-delivery"
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    secret_file = str(tmp_path / "secret")
    changed = ask("webhooks", "change", named, "--pause", "--all-events", "--secret-file", secret_file)
    assert (changed["paused"], changed["events"], changed["ensembles"]) == (True, [], ["shop"])
    assert ask("webhooks", "test", named, code=3)["code"] == "not-ready"
    assert "paused" in text("webhooks", "list")
    assert "nothing is posted" in text("webhooks", "show", named)
    assert posted["id"] in text("webhooks", "deliveries", named)
    assert run(["webhooks", "change", named]) == 64
    assert run(["webhooks", "change", named, "--event", "job.began", "--all-events"]) == 64
    ask("webhooks", "remove", named)
    assert ask("webhooks", "show", named, code=3)["code"] == "unknown-webhook"
    assert ask("webhooks", "create", "default", "https://other.example.org/", code=3)["code"] == "egress"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{SECRET}\n".encode())))
    given = ask("webhooks", "create", "default", HOOK, "--secret-file", "-")
    assert given["secret"] is None
    ask("webhooks", "remove", given["id"])


def test_schedules(ask: Ask, text: Callable[..., str]) -> None:
    nightly = ("schedules", "create", "nightly", "--at", "30 3 * * mon-fri", "--zone", "Europe/Berlin")
    made = ask(*nightly, "--auto", "--workflow", "check", "web", "--parallel", "2")
    assert (made["workflow"], made["apply"], made["zone"]) == ("check", "auto", "Europe/Berlin")
    assert made["request"]["names"] == ["web"]
    assert made["options"]["parallel"] == 2
    assert ask(*nightly, "--workflow", "check", code=3)["code"] == "exists"
    assert ask("schedules", "create", "healing", "--at", "0 6 * * *", "--workflow", "heal")["apply"] == "ask"
    assert ask("schedules", "create", "x", "--at", "often", "--workflow", "check", code=3)["code"]
    own = ask("schedules", "create", "looking", "--at", "0 7 * * *", "--workflow", "workflow inspect")
    assert own["request"]["name"] == "inspect"
    paused = ask("schedules", "change", "nightly", "--pause", "--at", "0 4 * * *")
    assert (paused["paused"], paused["next"], paused["cron"], paused["apply"]) == (True, None, "0 4 * * *", "auto")
    scaled = ask("schedules", "change", "nightly", "--workflow", "scale", "web=1")
    assert (scaled["workflow"], scaled["request"]["counts"], scaled["cron"]) == ("scale", {"web": 1}, "0 4 * * *")
    assert [one["name"] for one in ask("schedules", "list")["schedules"]] == ["healing", "looking", "nightly"]
    assert ask("schedules", "show", "nightly")["id"] == made["id"]
    assert "Europe/Berlin" in text("schedules", "list")
    assert "it is paused" in text("schedules", "show", "nightly")
    assert run(["schedules", "create", "y", "--at", "0 4 * * *"]) == 64
    assert run(["schedules", "change", "nightly"]) == 64
    assert run(["--env", "test", "schedules", "change", "nightly", "--resume"]) == 64
    for name in ("nightly", "healing", "looking"):
        ask("schedules", "remove", name)
    assert ask("schedules", "list")["schedules"] == []
    assert ask("schedules", "remove", "nightly", code=3)["code"] == "unknown-schedule"


def test_the_source_of_an_ensemble(ask: Ask, text: Callable[..., str]) -> None:
    source = ("ensembles", "source")
    assert ask(*source, "show", "shop", code=3)["code"] == "unknown-source"
    assert run([*source, "set", "shop"]) == 64
    repository = "https://git.example.org/shop.git"
    made = ask(*source, "set", "shop", repository, "--path", "services/shop", "--every", "10m")
    assert (made["branch"], made["path"], made["apply"], made["every"]) == ("main", "services/shop", "ask", 600)
    assert len(made["secret"]) >= 16
    kept = ask(*source, "set", "default/shop", "--branch", "stable", "--auto", "--only-hook")
    assert (kept["repository"], kept["branch"], kept["path"]) == (repository, "stable", "services/shop")
    assert (kept["apply"], kept["every"], kept["secret"]) == ("auto", 0, None)
    assert ask(*source, "fetch", "shop")["branch"] == "stable"
    assert repository in text(*source, "show", "shop")
    ask(*source, "remove", "shop")
    assert ask(*source, "show", "shop", code=3)["code"] == "unknown-source"


def test_packages(ask: Ask, text: Callable[..., str], shop: Path, tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    for name in ("service.yaml", "say.sh"):
        shutil.copy(shop.parent / name, tmp_path / "service")
    sent = ask("packages", "push", "default", str(tmp_path / "service"), "--label", "shop:2.4")
    assert sent["labels"] == ["shop:2.4"]
    again = ask("packages", "push", "default", "shop:2.4", "--label", "shop:next-dev")
    assert (again["digest"], {*again["labels"]}) == (sent["digest"], {"shop:2.4", "shop:next-dev"})
    ask("packages", "label", sent["digest"], "shop:2.5")
    assert [one["digest"] for one in ask("packages", "list", "--search", "2.5")["packages"]] == [sent["digest"]]
    assert ask("packages", "list", "--search", "nothing")["packages"] == []
    shown = ask("packages", "show", "default/shop:2.4")
    assert (shown["format"], shown["digest"]) == ("ordito.packages-show/1", sent["digest"])
    assert [one["name"] for one in shown["nodes"]] == ["web", "db"]
    assert "say.sh" in text("packages", "show", "shop:2.4")
    # Packing writes imports of profiles as paths in the archive.
    assert "template_name: shop" in text("packages", "show", "shop:2.4", "--file", "service.yaml")
    assert text("packages", "show", "shop:2.4", "--file", "say.sh") == (shop.parent / "say.sh").read_text()
    assert "shop:2.4" in text("packages", "list")
    ask("packages", "fetch", "shop:2.4", "--out", str(tmp_path / "got.csar"))
    assert ask("packages", "push", "default", str(tmp_path / "got.csar"))["digest"] == sent["digest"]
    ask("ensembles", "create", "made", "--package", "shop:2.4")
    assert ask("packages", "remove", "shop:2.4", code=3)["code"] == "in-use"
    ask("ensembles", "remove", "made")
    ask("packages", "remove", "shop:2.4")
    assert ask("packages", "show", "shop:2.4", code=3)["code"] == "unknown-package"


def test_graph_and_explain_ask_for_what_is_deployed(ask: Ask, shop: Path) -> None:
    there = ask("-e", "shop", "graph")
    assert (there["format"], [one["name"] for one in there["nodes"]]) == ("ordito.graph/1", ["web", "db"])
    # A file is one of this machine, whatever server is named.
    assert there == ask("graph", str(shop.parent / "service.yaml"))
    assert ask("-e", "shop", "graph", "--limit", "1")["left_out"] == 1
    here = ask("--server", "", "explain", "Part", "-s", str(shop.parent / "service.yaml"))
    explained = ask("-e", "shop", "explain", "Part")
    assert explained["name"] == here["name"] == "Part"
    assert "open" in json.dumps(ask("-e", "shop", "explain", "Part.motto"))
    assert ask("-e", "shop", "explain", "locked")["format"] == ask("--server", "", "explain", "locked")["format"]
    assert ask("-e", "shop", "explain", "Part", "--kind", "node", code=3)["code"] == "local-only"
    assert ask("-e", "shop", "graph", "--workflow", "check", code=3)["code"] == "local-only"
    pushed = ask("packages", "push", "default", str(shop.parent / "service.yaml"), "--label", "drawn:1")
    assert ask("graph", "drawn:1")["nodes"] == there["nodes"]
    assert ask("explain", "Part", "-s", "drawn:1")["name"] == "Part"
    ask("packages", "remove", pushed["digest"])


def test_spec_and_inventory_are_replaced_as_a_whole(ask: Ask, text: Callable[..., str], tmp_path: Path) -> None:
    written = text("spec", "--text")
    assert "spec:" in written
    (tmp_path / "spec.yaml").write_text(f"{written}# reviewed\n")
    assert ask("spec", "--set", str(tmp_path / "spec.yaml"))["valid"]
    assert text("spec", "--text") == f"{written}# reviewed\n"
    (tmp_path / "spec.yaml").write_text("spec: { nonsense: 1 }\n")
    ask("spec", "--set", str(tmp_path / "spec.yaml"), code=3)
    assert text("spec", "--text") == f"{written}# reviewed\n"
    hosts = "hosts: { two: { address: 192.0.2.12, user: deploy } }\n"
    (tmp_path / "hosts.yaml").write_text(hosts)
    assert ask("hosts", "set", str(tmp_path / "hosts.yaml"))["valid"]
    assert text("hosts", "show") == hosts
    (tmp_path / "hosts.yaml").write_text("hosts: { two: { address: 192.0.2.12, user: x, password: canary-1 } }\n")
    assert ask("hosts", "set", str(tmp_path / "hosts.yaml"), code=3)["code"] == "plain-credential"
    assert run(["spec", "--text", "--set", "x"]) == 64


def test_they_are_replaced_here_too(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "shop"
    shutil.copytree(shop, directory)
    (tmp_path / "hosts.yaml").write_text("hosts: { three: { address: 192.0.2.13, user: deploy } }\n")
    assert run(["-e", str(directory), "hosts", "set", str(tmp_path / "hosts.yaml")]) == 0
    capsys.readouterr()
    assert run(["-e", str(directory), "hosts", "show"]) == 0
    assert capsys.readouterr().out == (tmp_path / "hosts.yaml").read_text()


def test_settings_of_the_server(ask: Ask, text: Callable[..., str]) -> None:
    before = ask("server", "settings", "show")
    del before["format"]
    assert before["egress"] == ["hooks.example.org", "git.example.org"]
    changed = ask("server", "settings", "set", "--banner", "soon", "--jobs", "3", "--limit", "query-seconds=20")
    assert (changed["banner"], changed["jobs"]) == ("soon", {**before["jobs"], "parallel": 3})
    assert changed["limits"] == {**before["limits"], "query_seconds": 20}
    assert ask("server", "settings", "set", "--egress", "hooks.example.org")["banner"] == "soon"
    assert "banner, jobs, limits, egress" in text("server", "settings", "show")
    parts = [word for name in ("banner", "jobs", "limits", "egress") for word in ("--of-file", name)]
    assert before.items() <= ask("server", "settings", "set", *parts).items()
    assert run(["server", "settings", "set"]) == 64
    assert run(["server", "settings", "set", "--limit", "requests=none"]) == 64
    assert run(["server", "settings", "set", "--banner", "x", "--of-file", "banner"]) == 64


def test_projects_and_labels_of_ensembles(ask: Ask) -> None:
    ask("projects", "change", "default", "--description", "all that we sell")
    assert ask("projects", "list")["projects"][0]["description"] == "all that we sell"
    ask("ensembles", "change", "shop", "--label", "stage=production", "--label", "team=blue")
    ask("ensembles", "change", "shop", "--no-label", "team")
    assert ask("ensembles", "show", "shop")["ensemble"]["labels"] == {"stage": "production"}
    assert run(["ensembles", "change", "shop"]) == 64


def test_the_deployed_service_of_an_ensemble(ask: Ask, text: Callable[..., str], shop: Path) -> None:
    assert ask("ensembles", "show", "shop", "--service")["entry"] == "service.yaml"
    assert text("ensembles", "show", "shop", "--file", "service.yaml") == (shop.parent / "service.yaml").read_text()
    assert ask("ensembles", "show", "shop", "--file", "nothing.yaml", code=3)["code"] == "unknown-file"


def test_what_others_have_changed_meanwhile_is_said(ask: Ask, signed_in: ServerConnection) -> None:
    named = ask("webhooks", "create", "default", HOOK)["id"]

    def change(_: bytes) -> object:
        ask("webhooks", "change", named, "--pause")
        return {"events": ["job.began"]}

    with pytest.raises(ServerError) as caught:
        edited(signed_in, "PATCH", f"/projects/default/webhooks/{named}", change)
    assert caught.value.failure.code == "changed"
    assert "paused is now true" in caught.value.failure.message
    assert ask("webhooks", "show", named)["events"] == []
    ask("webhooks", "remove", named)


def test_what_others_have_changed_in_a_text_is_said(ask: Ask, signed_in: ServerConnection, tmp_path: Path) -> None:
    path = "/projects/default/ensembles/shop/spec"
    written = signed_in.get(path, dict[str, str])["text"]
    (tmp_path / "spec.yaml").write_text(f"# from somebody else\n{written}")

    def change(_: bytes) -> object:
        ask("spec", "--set", str(tmp_path / "spec.yaml"))
        return {"text": written}

    with pytest.raises(ServerError) as caught:
        edited(signed_in, "PUT", path, change)
    assert "its text from line 1 on" in caught.value.failure.message


@pytest.mark.parametrize(
    "words",
    [["webhooks", "list"], ["schedules", "list"], ["packages", "list"], ["server", "settings", "show"],
     ["ensembles", "source", "show", "shop"]],
)  # fmt: skip
def test_they_need_a_server(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-o", "json", "--server", "", *words]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "needs-server"
