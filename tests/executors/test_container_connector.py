"""Commands in real containers: their streams, their ends, and containers that have gone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from ordito.executors.container.connector import ContainerConnector
from ordito.work.targets import CONTAINER, HostTarget, Unreachable
from tests.support.real.podman import SMALL, Podman

NAME = "ordito-test-connector"
TARGET = HostTarget(CONTAINER, f"container {NAME}", {"engine": "podman", "container": NAME, "instance": "host_1"})


class Heard:
    """What was heard of a command."""

    def __init__(self) -> None:
        self.out = self.err = b""
        self.end: asyncio.Future[tuple[int | None, str]] = asyncio.get_running_loop().create_future()
        self.began = asyncio.Event()

    def heard_out(self, data: bytes) -> None:
        self.out += data
        self.began.set()

    def heard_err(self, data: bytes) -> None:
        self.err += data

    def ended(self, status: int | None, lost: str = "") -> None:
        self.end.set_result((status, lost))


@pytest.fixture
def container(podman: Podman, monkeypatch: pytest.MonkeyPatch) -> Iterator[Podman]:
    for name, value in podman.environment.items():
        monkeypatch.setenv(name, value)
    podman.run("run", "--detach", "--name", NAME, SMALL, "sleep", "100000")
    yield podman
    podman.run("rm", "--force", "--time", "0", "--ignore", NAME)


def test_streams_and_ends_of_commands_in_a_container(container: Podman) -> None:
    async def run() -> None:
        connector = ContainerConnector()
        heard = Heard()
        channel = await connector.start(TARGET, ["sh", "-c", 'cat; echo "$1" >&2; exit 7', "sh", "two words"], heard)
        channel.write(b"given\n" * 50_000)
        channel.write_end()
        assert await heard.end == (7, "")
        assert heard.out == b"given\n" * 50_000
        assert heard.err == b"two words\n"
        channel.write(b"too late")
        # Nobody listens to a command any more that is at work at the end.
        last = Heard()
        await connector.start(TARGET, ["sh", "-c", "echo at work; sleep 1000"], last)
        await last.began.wait()
        await connector.close()
        status, lost = last.end.result()
        assert status is None
        assert lost

    asyncio.run(run())


def test_what_runs_in_a_container_that_goes_away_is_lost_and_nothing_more_starts(container: Podman) -> None:
    async def run() -> None:
        connector = ContainerConnector()
        heard = Heard()
        await connector.start(TARGET, ["sh", "-c", "echo at work; sleep 1000"], heard)
        await heard.began.wait()
        await asyncio.to_thread(container.run, "rm", "--force", "--time", "0", NAME)
        status, lost = await heard.end
        assert status is None
        assert NAME in lost
        with pytest.raises(Unreachable, match=f"{NAME} .*no longer exists; `ordito heal host_1`"):
            await connector.start(TARGET, ["true"], Heard())
        await connector.close()

    asyncio.run(run())
