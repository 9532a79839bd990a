"""Every line of a stream of events is as the reference says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import ordito.cli
from ordito.work.events import Event
from tests.cli.program import DATA, Run
from tools.reference.events import EXAMPLES, kinds, said

KINDS: Mapping[str, Any] = {
    "text": str,
    "whole number": int,
    "number": int | float,
    "text or null": str | None,
    "whole number or null": int | None,
    "list of maps": list[dict[str, Any]],
    "map": dict[str, Any],
    "map of texts": dict[str, str],
    "anything": Any,
}


def check(line: Mapping[str, Any]) -> str:
    """Hold an object to what is said of its type, which is given."""
    kind = str(line["type"])
    if kind in kinds():
        event = msgspec.convert(line, Event)
        assert set(line) - {"type"} <= set(event.__struct_fields__)
    else:
        described = said()[kind]
        names = set(line) - {"type"}
        assert names == set(described.fields) or names == set(described.least), kind
        for name in names:
            msgspec.convert(line[name], KINDS[described.fields[name][0]])
    return kind


@pytest.mark.parametrize("kind", EXAMPLES)
def test_examples_of_events_are_events(kind: str) -> None:
    assert check(msgspec.json.decode(EXAMPLES[kind])) == kind


@pytest.mark.parametrize("kind", said())
def test_examples_of_what_a_command_says(kind: str) -> None:
    assert check(msgspec.json.decode(said()[kind].example)) == kind


def test_no_other_types_are_written() -> None:
    folder = Path(ordito.cli.__file__).parent
    text = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    written = re.findall(r'(?:stream|self)\.say\(\s*"([\w.]+)"', text)
    assert set(written) == set(said())


def test_what_commands_write_is_as_it_is_described(run: Run) -> None:
    block = ("RegisterHosts", "-i", "names=[a]", "-i", "address=192.0.2.1", "-i", "file=/nowhere/x")
    lines = [
        *run("deploy", DATA / "failing", "--yes", "--json", "--attempts", "2", "--interval", "0").events,
        *run("status", "--json").events,
        *run("deploy", "nowhere", "--yes", "--json").events,
        *run("deploy", DATA / "notices", "--yes", "--json", "-e", "notices").events,
        *run("notify", "one", "raised", "-i", "level=3", "--json", "-e", "notices").events,
        *run("blocks", "test", *block, "--json").events,
        *run("heal", "x", "--yes", "--json", "-e", "elsewhere").events,
    ]
    seen = {check(line) for line in lines}
    took = [part["seconds"] for line in lines for part in (line, line.get("outcome") or {}) if "seconds" in part]
    assert took
    assert took == [round(seconds, 3) for seconds in took]
    assert seen >= {"version", "job.started", "step.started", "step.retrying", "step.failed", "step.skipped"}
    assert seen >= {"job.finished", "plan.change", "notice.received", "output", "diagnostic", "error", "next", "result"}
