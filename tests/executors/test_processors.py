"""Processors of workflows: a plug-in that is installed as those of users are, in a process of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ordito.executors.processors import CALL, processors
from ordito.work.invocation import Ending, Invocation
from ordito.work.plan import PROCESSES
from tests.executors.place import Place, Ran
from tests.support.plugins import install

FLOW = "acme.artifacts.Flow"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("flow", tmp_path_factory.mktemp("plugins"))


@pytest.fixture
def installed(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(plugin))
    processors.cache_clear()
    yield
    processors.cache_clear()


def flow(place: Place, text: str, data: Mapping[str, object] | None = None, **more: object) -> Ran:
    given = {"inputs": {}, **(data or {})}
    return place.run(text, "run.flow", processor=f"{PROCESSES}{FLOW}", data=given, **more)


@pytest.mark.usefixtures("installed")
def test_it_gets_the_file_and_what_it_is_given(place: Place) -> None:
    """R-7.3.8-1: the processor for the artifact's type is handed the file, with its dependencies and inputs."""
    seen = place.scrap / "seen"
    place.write("lib.flow", "say nothing")
    data = {"inputs": {"who": "Ü", "port": 80}, "snapshot": {"instances": {"a_1": {"state": "started"}}}}
    ran = flow(
        place,
        f"say hello $who\nwrite {seen}\ngive port $port\ngive more 1",
        data,
        dependencies=("lib.flow",),
        outputs=("port",),
        environment={"port": "80"},
    )
    assert (ran.outcome.ending, ran.outcome.outputs) == (Ending.SUCCEEDED, {"port": "80"})
    assert ran.text == "hello Ü\n"
    call = json.loads(seen.read_text())
    assert {**call, "file": Path(call["file"]).name} == {
        **data,
        "file": "run.flow",
        "dependencies": [str(place.root / "lib.flow")],
    }
    assert place.left() == []


@pytest.mark.usefixtures("installed")
def test_what_it_raises_is_its_failure(place: Place) -> None:
    ran = flow(place, "give a 1\nfail it is too late", outputs=("a",))
    assert (ran.outcome.ending, ran.outcome.exit_code, ran.outcome.outputs) == (Ending.FAILED, 1, {})
    assert ran.outcome.tail[-1] == "RuntimeError: it is too late"


@pytest.mark.usefixtures("installed")
def test_it_is_ended_when_it_takes_too_long(place: Place) -> None:
    ran = flow(place, f"say begun\nwait {place.scrap}/never", timeout=0.5)
    assert ran.outcome.ending is Ending.TIMED_OUT
    assert ran.text == "begun\n"
    assert not place.processes("run.flow")
    assert not list(place.slots.rglob(CALL))


@pytest.mark.usefixtures("installed")
def test_it_processes_workflows_only(place: Place) -> None:
    """An operation whose implementation has that type is no workflow."""
    assert place.executor.accepts((f"{PROCESSES}{FLOW}",))
    assert not place.executor.accepts((FLOW,))
    assert not place.executor.accepts((f"{PROCESSES}acme.artifacts.Other",))


def test_nothing_is_there_unless_it_is_installed(place: Place) -> None:
    assert not place.executor.accepts((f"{PROCESSES}{FLOW}",))
    invocation: Invocation = place.invocation("say hello", "run.flow", processor=f"{PROCESSES}{FLOW}")
    ran = Ran()

    async def run() -> None:
        async for _, progress in place.executor.run([invocation]):
            ran.take(progress)

    asyncio.run(run())
    assert ran.outcome.ending is Ending.NOT_STARTED
