"""Commands in containers: each is a process of this machine, `podman exec` or `docker exec`, with its streams."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Sequence

import msgspec

from ordito.executors.remote.connection import CommandChannel, CommandListener
from ordito.work.targets import CONTAINER, HostTarget, Unreachable

AT_ONCE = 16
"""How many commands are started in one container at the same time: the engine locks the container for each of them."""

STARTING = 2.0
"""Seconds after which a command that has printed nothing counts as started: it may run as long as it likes, and must
not block other commands, such as the one that ends it."""

NOBODY = "no such"
"""What engines say, in lower case, about a container that does not exist: no such object, no such container."""

_OUT, _ERR = 1, 2
_RUNNING = ("inspect", "--format", "{{.State.Running}}")


class _ContainerState(msgspec.Struct):
    """What is known of one container: whether it ran at the last check, and the queue of commands to start in it."""

    turns: asyncio.Semaphore
    is_known: bool = False


class ContainerConnector:
    """Starts commands in running containers. The ``settings`` of a target are ``engine``, ``container``, the
    ``instance`` that the container was made for and, if commands do not run as the user of the image, ``user``."""

    protocol = CONTAINER

    def __init__(self) -> None:
        self._places: dict[str, _ContainerState] = {}
        self._running: set[_Exec] = set()

    async def start(self, target: HostTarget, words: Sequence[str], ears: CommandListener) -> CommandChannel:
        """See ``Connector``."""
        place = self._places.setdefault(target.name, _ContainerState(asyncio.Semaphore(AT_ONCE)))
        await place.turns.acquire()
        command = _Exec(target, ears, place.turns.release, lambda: self._ended(command, place))
        try:
            if not place.is_known:
                await _check(target)
                place.is_known = True
            await _spawn(command, (*_exec(target), *words))
        except BaseException:
            # Its turn is over, which it may have said itself already.
            command.has_started()
            raise
        if not command.told.is_set():
            self._running.add(command)
        asyncio.get_running_loop().call_later(STARTING, command.has_started)
        return command

    def forget_failure(self, target: HostTarget) -> None:
        """Does nothing: a container that does not run is checked each time."""

    async def close(self) -> None:
        """Stop listening to all commands; returns when all listeners have been told."""
        commands = [*self._running]
        for command in commands:
            command.close()
        await asyncio.gather(*(command.told.wait() for command in commands))

    def _ended(self, command: _Exec, place: _ContainerState) -> None:
        self._running.discard(command)
        place.is_known &= not command.is_lost


class _Exec(asyncio.SubprocessProtocol):
    """A command in a container; it has ended when the process of the engine and both outputs have ended."""

    def __init__(
        self, target: HostTarget, ears: CommandListener, started: Callable[[], None], ended: Callable[[], None]
    ) -> None:
        self._target = target
        self._ears = ears
        self._started: Callable[[], None] | None = started
        self._ended = ended
        self._transport: asyncio.SubprocessTransport | None = None
        self._closed = False
        self._telling: asyncio.Task[None] | None = None
        self.is_lost = False
        self.told = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.has_started()
        if not self._closed:
            (self._ears.heard_out if fd == _OUT else self._ears.heard_err)(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """The process and both outputs have ended."""
        self.has_started()
        status = None
        if self._transport is not None:
            status = self._transport.get_returncode()
            self._transport.close()
        self._telling = asyncio.get_running_loop().create_task(self._tell(status))

    def has_started(self) -> None:
        """Let the next command start; does nothing the second time."""
        started, self._started = self._started, None
        if started is not None:
            started()

    async def _tell(self, status: int | None) -> None:
        lost = ""
        if self._closed:
            lost = "nobody listens any more"
        elif status is None or status < 0:
            lost = f"the program {self._target.settings['engine']} was ended while a command ran in {self._target.name}"
        elif status > 0:
            # The engine ends with a status of its own, or of a killed command, where the container has ended.
            try:
                await _check(self._target)
            except Unreachable as unreachable:
                lost = str(unreachable)
        self.is_lost = bool(lost)
        self._ended()
        self._ears.ended(None if lost else status, lost)
        self.told.set()

    # ------------------------------------------------------------------------------------------------- the channel

    def write(self, data: bytes) -> None:
        if (pipe := self._input()) is not None and not pipe.is_closing():
            pipe.write(data)

    def write_end(self) -> None:
        if (pipe := self._input()) is not None and not pipe.is_closing():
            pipe.close()

    def pause(self) -> None:
        for pipe in self._outputs():
            pipe.pause_reading()

    def resume(self) -> None:
        for pipe in self._outputs():
            pipe.resume_reading()

    def close(self) -> None:
        self._closed = True
        if self._transport is not None:
            with contextlib.suppress(ProcessLookupError):
                self._transport.kill()

    def _input(self) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(0) if self._transport else None
        return pipe if isinstance(pipe, asyncio.WriteTransport) else None

    def _outputs(self) -> list[asyncio.ReadTransport]:
        pipes = [self._transport.get_pipe_transport(n) for n in (_OUT, _ERR)] if self._transport else []
        return [p for p in pipes if isinstance(p, asyncio.ReadTransport) and not p.is_closing()]


def _exec(target: HostTarget) -> list[str]:
    settings = target.settings
    user = ["--user", str(settings["user"])] if settings.get("user") else []
    return [str(settings["engine"]), "exec", "--interactive", *user, str(settings["container"])]


async def _spawn(command: _Exec, words: Sequence[str]) -> None:
    try:
        await asyncio.get_running_loop().subprocess_exec(
            lambda: command, *words, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
        )
    except OSError as error:
        raise Unreachable(f"{words[0]} cannot be started: {error.strerror}") from error


async def _check(target: HostTarget) -> None:
    """Raise ``Unreachable`` unless the container runs."""
    engine, name = str(target.settings["engine"]), str(target.settings["container"])
    heal = f"`ordito heal {target.settings.get('instance', 'INSTANCE')}`"
    try:
        process = await asyncio.create_subprocess_exec(
            engine, *_RUNNING, name, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, start_new_session=True
        )
    except OSError as error:
        raise Unreachable(f"{target.name} cannot be reached: {engine}: {error.strerror}") from error
    try:
        out, err = await process.communicate()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    if process.returncode:
        said = err.decode(errors="replace").strip().rpartition("\n")[2]
        if NOBODY in said.lower():
            raise Unreachable(f"{target.name} cannot be reached: the container no longer exists; {heal} replaces it")
        raise Unreachable(f"{target.name} cannot be reached: {said}")
    if out.strip() != b"true":
        raise Unreachable(
            f"{target.name} cannot be reached: the container does not run; start it ({engine} start {name}), "
            f"or use {heal}"
        )
