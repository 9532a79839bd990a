"""The connections to one host: opened when they are needed, used again, and never more than the host takes."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ordito.executors.remote.connection import Channel, Ears
from ordito.executors.ssh import host_keys
from ordito.executors.ssh.become import Becoming, words_as
from ordito.executors.ssh.command import Command
from ordito.executors.ssh.faults import is_hopeless, why
from ordito.executors.ssh.settings import SshSettings
from ordito.work.targets import Refused, Unreachable

if TYPE_CHECKING:
    import asyncssh

SESSIONS = 10
"""Commands at a time over one connection: what ``sshd`` takes unless it is told otherwise (``MaxSessions``)."""

ATTEMPTS = 6
PAUSE = 0.2
"""Seconds before the second attempt at a connection that the host ended at once (``MaxStartups``); then doubled."""

MOST_REFUSALS = 8
REFUSED_PAUSE = 0.02
"""How many times a command is refused over a connection that runs no other before it is given up, and seconds after the
first time, as many more after each."""

CLOSING = 2.0
"""Seconds that a connection may take to close."""

DOWN_FOR = 30.0
"""Seconds for which a host that could not be reached is not tried again."""

NOT_DOWN: tuple[float, type[Unreachable], str] = (0.0, Unreachable, "")


class _Line:
    """One connection, and how many commands are at work over it."""

    def __init__(self, connection: asyncssh.SSHClientConnection, above: Sequence[Any]) -> None:
        self.connection = connection
        self.above = above
        self.busy = 0
        self.most = SESSIONS

    @property
    def is_open(self) -> bool:
        return not self.connection.is_closed()

    @property
    def has_room(self) -> bool:
        return self.is_open and self.busy < self.most

    def close(self) -> None:
        self.connection.close()
        for hop in self.above:
            hop.close()

    async def closed(self) -> None:
        """Close it, and wait until that is done."""
        for connection in (self.connection, *self.above):
            connection.close()
            with contextlib.suppress(TimeoutError, OSError):
                await asyncio.wait_for(connection.wait_closed(), CLOSING)


class Connections:
    """All connections to one host under the same settings."""

    def __init__(self, settings: SshSettings, name: str) -> None:
        self._settings = settings
        self._name = name
        self._lines: list[_Line] = []
        self._opening = asyncio.Lock()
        self._free = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._down: tuple[float, type[Unreachable], str] = NOT_DOWN

    async def start(self, words: Sequence[str], ears: Ears) -> Channel:
        """See ``Connector.start``."""
        become = self._settings.become
        if become is None:
            return await self._start(words, ears)
        becoming = Becoming(become, ears)
        channel = await self._start(words_as(become, words), becoming)
        try:
            await becoming.talk(channel)
        except Unreachable as error:
            raise type(error)(f"{self._name}: {error}") from None
        return channel

    def forget_failure(self) -> None:
        """See ``Connector``."""
        self._down = NOT_DOWN

    async def close(self) -> None:
        """Close all connections."""
        lines, self._lines = self._lines, []
        if lines and self._loop is asyncio.get_running_loop():
            await asyncio.gather(*(line.closed() for line in lines))

    # ------------------------------------------------------------------------------------------------------- parts

    async def _start(self, words: Sequence[str], ears: Ears) -> Channel:
        import asyncssh

        text = " ".join(map(shlex.quote, words))
        refusals = 0
        while True:
            line = await self._line_with_room()
            line.busy += 1
            try:
                return await self._over(line, text, ears)
            except asyncssh.ChannelOpenError as error:
                if line.is_open and not line.busy:
                    refusals += 1
                    if refusals > MOST_REFUSALS:
                        line.close()
                        raise Unreachable(f"{self._name} lets nobody run commands over SSH: {error.reason}") from None
                    # A host takes a moment to see that a command has ended.
                    await asyncio.sleep(REFUSED_PAUSE * refusals)
                # So many and no more (MaxSessions); or it is going away, which the next look at it will show.
                line.most = max(line.busy, 1)
            except (asyncssh.Error, OSError) as error:
                if line.is_open:
                    raise Unreachable(f"{self._name}: the command was not started: {error}") from None

    async def _over(self, line: _Line, text: str, ears: Ears) -> Channel:
        """Start a command over a connection, whose place is given back once: when nothing is at work there any more."""
        command = Command(ears, partial(self._give_back, line), self._name)
        opening = asyncio.ensure_future(line.connection.create_session(lambda: command, text, encoding=None))
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The host may be about to start it: it is closed as soon as it is open.
            opening.add_done_callback(partial(_close, command))
            raise
        except BaseException:
            command.give_up()
            raise
        return command

    async def _line_with_room(self) -> _Line:
        self._use_loop()
        while True:
            if (line := self._with_room()) is not None:
                return line
            self._prune()
            if len(self._lines) < self._settings.connections and not self._opening.locked():
                async with self._opening:
                    # One at a time: a host drops some of many that knock together.
                    if (line := self._with_room()) is None:
                        line = await self._open()
                        self._lines.append(line)
                        self._wake()
                    return line
            if self._opening.locked():
                async with self._opening:
                    continue
            self._free.clear()
            await self._free.wait()

    def _use_loop(self) -> None:
        """Connections belong to the loop that they were made on, and are gone with it."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._lines, self._opening, self._free = [], asyncio.Lock(), asyncio.Event()

    def _prune(self) -> None:
        """Forget connections that are gone, and those that led to them."""
        for line in self._lines:
            if not line.is_open:
                line.close()
        self._lines = [line for line in self._lines if line.is_open]

    def _with_room(self) -> _Line | None:
        # The one that is used least: each has one process on the host, and these work side by side.
        free = [line for line in self._lines if line.has_room]
        return min(free, key=lambda line: line.busy) if free else None

    def _give_back(self, line: _Line) -> None:
        line.busy -= 1
        self._wake()

    def _wake(self) -> None:
        self._free.set()

    async def _open(self) -> _Line:
        loop = asyncio.get_running_loop()
        until, kind, message = self._down
        if loop.time() < until:
            raise kind(message)
        try:
            line = await connect(self._settings)
        except Unreachable as error:
            message = f"{self._name}: {error}"
            self._down = (loop.time() + DOWN_FOR, type(error), message)
            raise type(error)(message) from None
        self._down = NOT_DOWN
        return line


def _close(command: Command, opening: asyncio.Future[Any]) -> None:
    """Nobody wants a command any more that was being started."""
    if opening.cancelled() or opening.exception() is not None:
        command.give_up()
    else:
        command.close()


async def connect(settings: SshSettings) -> _Line:
    """A new connection, by way of the jump hosts; ``Unreachable``."""
    above: list[Any] = []
    try:
        for hop in settings.jump:
            above.append(await _to_hop(hop, above[-1] if above else None))
        return _Line(await _connect(settings, above[-1] if above else None), above[::-1])
    except BaseException:
        for hop_connection in above[::-1]:
            hop_connection.close()
        raise


async def _to_hop(hop: SshSettings, tunnel: Any) -> asyncssh.SSHClientConnection:
    try:
        return await _connect(hop, tunnel)
    except Unreachable as error:
        raise type(error)(f"on the way there, at its jump host: {error}") from None


async def _connect(settings: SshSettings, tunnel: Any) -> asyncssh.SSHClientConnection:
    import asyncssh

    pause = PAUSE
    for attempt in range(ATTEMPTS):
        seen = host_keys.Seen()
        try:
            async with asyncio.timeout(settings.connect_timeout):
                return await asyncssh.connect(
                    settings.address, client_factory=_client(settings, seen), tunnel=tunnel, **_options(settings)
                )
        except (asyncssh.Error, OSError, ValueError) as error:
            is_dropped = isinstance(error, asyncssh.ConnectionLost | ConnectionResetError) and not seen.refusal
            if is_dropped and attempt < ATTEMPTS - 1:
                await asyncio.sleep(pause)
                pause *= 2
                continue
            kind = Refused if seen.refusal or is_hopeless(error) else Unreachable
            raise kind(why(settings, error, seen.refusal)) from None
    raise AssertionError("the last attempt returns or raises")


def _client(settings: SshSettings, seen: host_keys.Seen) -> Callable[[], asyncssh.SSHClient]:
    import asyncssh

    class Client(asyncssh.SSHClient):
        """Asked about keys that are not known, and for the password."""

        def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
            seen.refusal = host_keys.judge(settings, host, addr, port, key)
            return not seen.refusal

    return Client


def _options(settings: SshSettings) -> dict[str, Any]:
    options: dict[str, Any] = {
        "known_hosts": host_keys.known_hosts_argument(settings),
        "keepalive_interval": settings.keep_alive,
        "keepalive_count_max": 3,
        "compression_algs": ["zlib@openssh.com", "none"] if settings.compression else ["none"],
        "preferred_auth": "publickey,keyboard-interactive,password",
    }
    if settings.config is False:
        options["config"] = None
    elif isinstance(settings.config, str):
        options["config"] = [settings.config]
    if settings.port is not None:
        options["port"] = settings.port
    if settings.user:
        options["username"] = settings.user
    if settings.identity:
        options["client_keys"] = [text.encode() if "PRIVATE KEY" in text else text for text in settings.identity]
    if settings.passphrase:
        options["passphrase"] = settings.passphrase
    if settings.password:
        options["password"] = settings.password
    if not settings.agent:
        options["agent_path"] = None
    return options
