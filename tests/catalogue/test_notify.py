"""Blocks that tell others."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.answering import Answering
from tests.support.blocks import Block

WEBHOOK = "ordito.dev/lifecycle/notify@v1#Webhook"
SLACK = "ordito.dev/lifecycle/notify@v1#Slack"


def test_a_webhook(tmp_path: Path) -> None:
    """What the config says is sent as JSON, with the step that it is about, again while the server is in trouble; each
    attempt is marked as the same message."""
    with Answering(lambda _, number: (503 if number < 3 else 202, "")) as server:
        url = f"{server.url}/hooks/geheim?key=geheim"
        config = {"url": url, "payload": {"what": "größer"}, "headers": {"Authorization": "geheim"}, "interval": "1 ms"}
        ran = Block(WEBHOOK, tmp_path).execute(config)
    assert (ran.status, ran.err, ran.outputs) == (0, "", {"status": 202, "attempts": 3})
    assert "geheim" not in ran.out
    asked = server.asked[-1]
    assert (asked.method, asked.path, asked.headers["Authorization"]) == ("POST", "/hooks/geheim?key=geheim", "geheim")
    assert {request.headers["Idempotency-Key"] for request in server.asked} == {"J1/step"}
    about = {"fqn": WEBHOOK, "phase": "upgrade.before", "component": "database", "step": "step", "undone": False}
    assert json.loads(asked.body) == {"what": "größer", "ordito": about}


def test_a_webhook_that_is_refused(tmp_path: Path) -> None:
    """A refusal is final; of the address only the server is named."""
    with Answering(lambda _, __: (403, "geheim")) as server:
        config = {"url": f"{server.url}/geheim", "about": False, "method": "PUT"}
        ran = Block(WEBHOOK, tmp_path).execute(config)
    assert ran.status == 1
    assert f"Webhook: {server.url} did not take the message (1 of 3 attempts): it answers with status 403" in ran.err
    assert "geheim" not in ran.err + ran.out
    assert [(request.method, request.body) for request in server.asked] == [("PUT", "{}")]
    config["url"] = "ftp://geheim"
    assert Block(WEBHOOK, tmp_path).execute(config).status == 2


def test_a_webhook_undone(tmp_path: Path) -> None:
    """What is sent then is for the config to say."""
    with Answering() as server:
        config = {"url": server.url, "undo_payload": {"what": "not so"}}
        ran = Block(WEBHOOK, tmp_path).undo(config, {"status": 200})
        silent = Block(WEBHOOK, tmp_path).undo({"url": server.url}, {"status": 200})
    assert ran.status == silent.status == 0
    assert [json.loads(request.body)["ordito"]["undone"] for request in server.asked] == [True]
    assert "what was sent stays sent" in silent.out


def test_slack(tmp_path: Path) -> None:
    """The message is what Slack takes; without a text it says how far things are; undone, that it is taken back."""
    with Answering() as server:
        config = {"url": f"{server.url}/services/geheim"}
        ran = Block(SLACK, tmp_path).execute({**config, "text": "Shop is up", "channel": "#ops"})
        Block(SLACK, tmp_path).execute(config)
        Block(SLACK, tmp_path, about={"ORDITO_COMPONENT": ""}).undo({**config, "text": "Shop is up"}, ran.outputs)
        Block(SLACK, tmp_path, about={"ORDITO_COMPONENT": ""}).undo(config, ran.outputs)
    assert ran.status == 0
    assert "geheim" not in ran.out
    assert [json.loads(request.body) for request in server.asked] == [
        {"text": "Shop is up", "channel": "#ops"},
        {"text": "upgrade.before of database: done so far"},
        {"text": "Taken back: Shop is up"},
        {"text": "Taken back: upgrade.before of shop: done so far"},
    ]


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    """It is tried as often as the config says."""
    ran = Block(SLACK, tmp_path).execute({"url": "http://127.0.0.1:1/x", "attempts": 2, "interval": "1 ms"})
    assert ran.status == 1
    assert "http://127.0.0.1:1 did not take the message (2 of 2 attempts): connection refused" in ran.err
