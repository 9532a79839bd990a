"""The connections to one host: opened when needed, used again, and never more than the host accepts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import socket
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import asyncssh

from ordito.executors.remote.connection import CommandChannel, CommandListener
from ordito.executors.ssh import host_keys
from ordito.executors.ssh.become import Becoming, words_as
from ordito.executors.ssh.settings import SshSettings
from ordito.work.targets import TargetRefused, Unreachable

if TYPE_CHECKING:
    import asyncssh


SESSIONS = 10
"""How many commands run at a time over one connection: the default of ``sshd`` (``MaxSessions``)."""

ATTEMPTS = 6
PAUSE = 0.2
"""Seconds before the second attempt to connect if the host ended the first at once (``MaxStartups``); then doubled."""

MOST_REFUSALS = 8
REFUSED_PAUSE = 0.02
"""How many times a command may be refused over a connection that runs no other before it is given up; and the seconds
to wait after the first time, increased by as many after each."""

CLOSING = 2.0
"""Seconds that a connection may take to close."""

DOWN_FOR = 30.0
"""Seconds for which a host that could not be reached is not tried again."""

NOT_DOWN: tuple[float, type[Unreachable], str] = (0.0, Unreachable, "")


class _SharedConnection:
    """One connection, and how many commands run over it."""

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
        self._lines: list[_SharedConnection] = []
        self._opening = asyncio.Lock()
        self._free = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._down: tuple[float, type[Unreachable], str] = NOT_DOWN

    async def start(self, words: Sequence[str], ears: CommandListener) -> CommandChannel:
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

    async def _start(self, words: Sequence[str], ears: CommandListener) -> CommandChannel:
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
                        raise Unreachable(f"{self._name} does not allow commands over SSH: {error.reason}") from None
                    # A host takes a moment to see that a command has ended.
                    await asyncio.sleep(REFUSED_PAUSE * refusals)
                # So many and no more (MaxSessions); or it is going away, which the next look at it will show.
                line.most = max(line.busy, 1)
            except (asyncssh.Error, OSError) as error:
                if line.is_open:
                    raise Unreachable(f"{self._name}: the command was not started: {error}") from None

    async def _over(self, line: _SharedConnection, text: str, ears: CommandListener) -> CommandChannel:
        """Start a command over a connection; its place is given back once, when it has ended."""
        command = SshCommand(ears, partial(self._give_back, line), self._name)
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

    async def _line_with_room(self) -> _SharedConnection:
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
        """Forget connections of another event loop: they are closed with it."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._lines, self._opening, self._free = [], asyncio.Lock(), asyncio.Event()

    def _prune(self) -> None:
        """Forget connections that are closed, and connections to jump hosts that were used only for them."""
        for line in self._lines:
            if not line.is_open:
                line.close()
        self._lines = [line for line in self._lines if line.is_open]

    def _with_room(self) -> _SharedConnection | None:
        # The one that is used least: each has one process on the host, and these work side by side.
        free = [line for line in self._lines if line.has_room]
        return min(free, key=lambda line: line.busy) if free else None

    def _give_back(self, line: _SharedConnection) -> None:
        line.busy -= 1
        self._wake()

    def _wake(self) -> None:
        self._free.set()

    async def _open(self) -> _SharedConnection:
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


def _close(command: SshCommand, opening: asyncio.Future[Any]) -> None:
    """Close a command whose start was given up."""
    if opening.cancelled() or opening.exception() is not None:
        command.give_up()
    else:
        command.close()


async def connect(settings: SshSettings) -> _SharedConnection:
    """A new connection, through the jump hosts; raises ``Unreachable``."""
    above: list[Any] = []
    try:
        for hop in settings.jump:
            above.append(await _to_hop(hop, above[-1] if above else None))
        return _SharedConnection(await _connect(settings, above[-1] if above else None), above[::-1])
    except BaseException:
        for hop_connection in above[::-1]:
            hop_connection.close()
        raise


async def _to_hop(hop: SshSettings, tunnel: Any) -> asyncssh.SSHClientConnection:
    try:
        return await _connect(hop, tunnel)
    except Unreachable as error:
        raise type(error)(f"at its jump host: {error}") from None


async def _connect(settings: SshSettings, tunnel: Any) -> asyncssh.SSHClientConnection:
    import asyncssh

    pause = PAUSE
    for attempt in range(ATTEMPTS):
        seen = host_keys.ShownKey()
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
            kind = TargetRefused if seen.refusal or is_hopeless(error) else Unreachable
            raise kind(why(settings, error, seen.refusal)) from None
    raise AssertionError("the last attempt returns or raises")


def _client(settings: SshSettings, seen: host_keys.ShownKey) -> Callable[[], asyncssh.SSHClient]:
    import asyncssh

    class SshClient(asyncssh.SSHClient):
        """Answers questions of asyncssh: about unknown host keys, and for the password."""

        def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
            seen.refusal = host_keys.judge(settings, host, addr, port, key)
            return not seen.refusal

    return SshClient


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


# One command over a connection: what asyncssh tells of it, told to those who listen.

_STDERR = asyncssh.EXTENDED_DATA_STDERR


class SshCommand(asyncssh.SSHClientSession[bytes]):
    """A session with one command; it is the ``CommandChannel`` of the command as well."""

    def __init__(self, ears: CommandListener, ended: Callable[[], None], name: str) -> None:
        self._ears = ears
        self._ended = ended
        self._name = name
        self._chan: Any = None
        self._status: int | None = None
        self._is_closed = False
        self._is_started = False
        self._is_over = False

    # ---------------------------------------------------------------------------------------- what asyncssh tells

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        """A channel is open, and the command is asked for."""
        self._chan = chan

    def session_started(self) -> None:
        """The command runs."""
        self._is_started = True

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """A piece of output."""
        if self._is_closed:
            return
        if datatype == _STDERR:
            self._ears.heard_err(data)
        else:
            self._ears.heard_out(data)

    def eof_received(self) -> bool:
        """Both outputs have ended, so the standard input is ended as well."""
        return False

    def exit_status_received(self, status: int) -> None:
        """The command has ended; outputs may go on."""
        self._status = status

    def exit_signal_received(self, name: str, core_dumped: bool, msg: str, lang: str) -> None:
        """A signal has ended the command."""
        self._status = -int(getattr(signal, f"SIG{name}", signal.SIGKILL))

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed."""
        if self._is_over:
            return
        self.give_up()
        if not self._is_started:
            return
        if self._status is not None:
            self._ears.ended(self._status)
        elif self._is_closed:
            self._ears.ended(None, "nobody listens any more")
        else:
            reason = getattr(exc, "reason", "") or "the connection has ended"
            self._ears.ended(None, f"the connection to {self._name} was lost: {reason}")

    def give_up(self) -> None:
        """Give back the place on the connection; does nothing the second time."""
        if not self._is_over:
            self._is_over = True
            self._ended()

    # ------------------------------------------------------------------------------------------------- the channel

    def write(self, data: bytes) -> None:
        """See ``CommandChannel``."""
        if not self._is_over and not self._chan.is_closing():
            self._chan.write(data)

    def write_end(self) -> None:
        """See ``CommandChannel``."""
        if not self._is_over and not self._chan.is_closing():
            self._chan.write_eof()

    def pause(self) -> None:
        """See ``CommandChannel``."""
        self._chan.pause_reading()

    def resume(self) -> None:
        """See ``CommandChannel``."""
        self._chan.resume_reading()

    def close(self) -> None:
        """See ``CommandChannel``."""
        self._is_closed = True
        self._chan.close()


# Why a host cannot be reached, in words: each kind of trouble has its sentence, and says what to do.


def is_hopeless(error: BaseException) -> bool:
    """Whether waiting does not help."""
    import asyncssh

    kinds = (
        asyncssh.KeyImportError,
        asyncssh.KeyEncryptionError,
        asyncssh.PermissionDenied,
        asyncssh.HostKeyNotVerifiable,
    )
    return isinstance(error, kinds) or _file_of(error) != ""


def why(settings: SshSettings, error: BaseException, refusal: str) -> str:
    """Why a host cannot be reached, for people; ``refusal`` is what is wrong with its key, "" for nothing."""
    if refusal:
        return refusal
    if file := _file_of(error):
        return _unreadable(settings, file, error)
    place = settings.address if settings.port is None else f"{settings.address} port {settings.port}"
    for kind, say in _kinds():
        if isinstance(error, kind):
            return say(settings, place, error)
    reason = error.strerror if isinstance(error, OSError) else ""
    return f"{place} cannot be reached: {reason or error}"


Say = Callable[[SshSettings, str, Any], str]


@cache
def _kinds() -> tuple[tuple[type[BaseException], Say], ...]:
    """The message for each kind of error, special kinds first."""
    import asyncssh

    return (
        (TimeoutError, _silent),
        (socket.gaierror, _unnamed),
        (asyncssh.KeyImportError, _key_trouble),
        (asyncssh.KeyEncryptionError, _key_trouble),
        (asyncssh.PermissionDenied, _denied),
        (asyncssh.HostKeyNotVerifiable, lambda _, p, e: f"the key of the host at {p} was refused: {e.reason}"),
        (asyncssh.ChannelOpenError, lambda _, p, e: f"{p} cannot be reached through its jump host: {e.reason}"),
        (asyncssh.DisconnectError, lambda _, p, e: f"{p} ended the connection before it was made: {e.reason}"),
        (ConnectionRefusedError, _refused),
    )


def _file_of(error: BaseException) -> str:
    """The file on this machine that caused an error, "" for none."""
    return str(error.filename) if isinstance(error, OSError) and error.filename else ""


def _unreadable(settings: SshSettings, file: str, error: BaseException) -> str:
    what = "the private key" if file in settings.identity else "the file"
    reason = error.strerror if isinstance(error, OSError) else ""
    key = ' ("identity" in the inventory names it)' if file in settings.identity else ""
    return f"{what} {file}{key} cannot be read on this machine: {reason or error}"


def _silent(settings: SshSettings, place: str, _: object) -> str:
    return (
        f"{place} did not answer within {settings.connect_timeout:g} s; is it running, and does a firewall let SSH "
        "through?"
    )


def _unnamed(settings: SshSettings, _: str, error: socket.gaierror) -> str:
    return f'there is no host named "{settings.address}" ({error.strerror}); check its address'


def _refused(_: SshSettings, place: str, __: object) -> str:
    return f"{place} refuses connections: nothing listens there; is sshd running, and is the port right?"


def _denied(settings: SshSettings, place: str, error: Any) -> str:
    user = f'"{settings.user}"' if settings.user else "this user"
    return (
        f"{place} does not let {user} in ({str(error.reason).rstrip('.')}); tried: {_tried(settings)}. Put the right "
        "key or password into the inventory, or the public key into authorized_keys on the host"
    )


def _tried(settings: SshSettings) -> str:
    ways = [f"key {_named(text)}" for text in settings.identity]
    if not settings.identity:
        ways.append("the keys in ~/.ssh")
    if settings.agent and os.environ.get("SSH_AUTH_SOCK"):
        ways.append("the agent's keys")
    if settings.password:
        ways.append("the password")
    return ", ".join(ways)


def _key_trouble(settings: SshSettings, _: str, error: Exception) -> str:
    keys = ", ".join(_named(text) for text in settings.identity) or "a key in ~/.ssh"
    more = "" if settings.passphrase else '; if it is encrypted, give its "passphrase"'
    if "bcrypt" in str(error):
        more += "; it needs the package bcrypt (pip install 'ordito[ssh]'), or an agent that has the key (ssh-add)"
    return f"a private key cannot be used ({keys}): {error}{more}"


def _named(identity: str) -> str:
    return "given as text" if "PRIVATE KEY" in identity else identity
