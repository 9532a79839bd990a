"""`python -m ordito.server`: open the home, and serve until told to stop."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import hashlib
import logging
import os
import signal
import socket
import sys
import time
import webbrowser
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple, TextIO

import uvicorn
from cryptography.fernet import Fernet
from sqlalchemy import Connection, func, insert, select
from sqlalchemy.exc import DatabaseError

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.owner import current_user
from ordito.server.application import API, application
from ordito.server.connections import PatientConnection, most_connections
from ordito.server.database.database import Database
from ordito.server.database.tables import ENSEMBLES, PLANS, PROJECTS, SERVER_KEYS, USERS
from ordito.server.deployers import warning
from ordito.server.identity.signing_in import new_link, prune
from ordito.server.names import LONGEST_NAME, NOT_IN_NAMES
from ordito.server.operating.home import OVER
from ordito.server.processes.link import ForkLink, GivenToChildren, bare_environment
from ordito.server.processes.sandbox import BUBBLEWRAP, sandboxed
from ordito.server.refused import ServerRefused
from ordito.server.restored import refuse_unusable
from ordito.server.services import Services
from ordito.server.settings import SQLITE, ServerSettings, base_url, read_settings, refuse_open

if TYPE_CHECKING:
    from ordito.cluster.store import Store
    from ordito.server.stores.stores import Stores

DEFAULT = "default"
"""The project of ensembles that are served where they lie."""

REFUSED = 3
WINDOWS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
"""The variables that say that a browser can be shown."""

GRACE = 5.0
"""Seconds for which requests may end when the server stops."""


def main(arguments: list[str]) -> int:
    """Serve, and return the exit code."""
    parser = argparse.ArgumentParser(prog="ordito serve", add_help=False)
    parser.add_argument("home")
    parser.add_argument("--listen", default="")
    parser.add_argument("--ensemble", action="append", default=[])
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--store", default="")
    parser.add_argument("--store-file", default="")
    parser.add_argument("--key", default="")
    parser.add_argument("--workers", type=int, default=0)
    given = parser.parse_args(arguments)
    try:
        ensembles = [Path(one).absolute() for one in given.ensemble]
        home = Path(given.home).absolute()
        over = None
        if given.store or given.store_file:
            over = _store_of(given.store, given.store_file, given.key, given.workers)
        return _serve(home, given.listen, ensembles, over, opens=given.open)
    except ServerRefused as refusal:
        _say(f"error[{refusal.code}]: {refusal.message}", sys.stderr)
        if refusal.hint:
            _say(f"  = help: {refusal.hint}", sys.stderr)
        return REFUSED


class OverStore(NamedTuple):
    """A store over which a server serves."""

    store: Store
    key: str
    """The file with the key of its workers, "" where none was named."""

    workers: int
    """How many workers of its own the server starts."""


def _store_of(address: str, file: str, key: str, workers: int) -> OverStore:
    try:
        from ordito.cluster.address import store_at
    except ModuleNotFoundError as error:
        hint = "install it: pip install 'ordito[cluster]'"
        raise ServerRefused(f"a store needs {error.name}", hint, "needs-extra") from error
    try:
        return OverStore(store_at(address, file), str(Path(key).absolute()) if key else "", workers)
    except EnsembleError as error:
        raise ServerRefused(error.message, error.hint) from error


def _serve(home: Path, listen: str, ensembles: list[Path], over: OverStore | None, *, opens: bool) -> int:
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    # What the server itself writes is nobody else's; what its children make is as any command would make it.
    umask = os.umask(0o077)
    with contextlib.ExitStack() as stack:
        try:
            home.mkdir(parents=True, exist_ok=True)
            # First of all: the rest of a half restored home, its settings too, may be cut anywhere.
            refuse_unusable(home)
            settings = read_settings(home / "server.yaml", os.environ, listen)
            stack.enter_context(_only_one(home))
            key = _key(home / "key")
            sealer = Fernet(key)
            _check_over(settings, over, ensembles)
            database = Database(_database_of(home, settings, over), home)
            if over is not None and settings.database == SQLITE:
                (home / OVER).write_text(f"{over.store}\n", encoding="utf-8")
        except OSError as error:
            raise ServerRefused(f"cannot use {home}: {error.strerror or error}") from error
        except DatabaseError as error:
            hint = "put back a copy of it; what ensembles hold is not in it"
            raise ServerRefused(f"cannot read {home / 'server.db'}: {error.orig}", hint) from error
        stack.callback(database.close)
        if database.is_shared:
            database.write_now(partial(_check_key, key=key))
        database.write_now(lambda connection: prune(connection, time.time()))
        _check_users(database, settings)
        _add_ensembles(database, ensembles)
        with _listening(settings) as listener:
            isolated = settings.isolation == BUBBLEWRAP
            said = database.read_now(lambda connection: warning(connection, settings.isolation))
            if said:
                _say(f"warning: {said}", sys.stderr)
            reads = tuple(str(home / one) for one in settings.reads)
            inherited = GivenToChildren(bare_environment(os.environ, settings.variables), umask)
            link = sandboxed(database, home, inherited, reads) if isolated else ForkLink(inherited)
            stores = _stores(home, over)
            services = Services(home, settings, database, link, sealer, API, stores)
            services.port = listener.getsockname()[1]
            services.packages.start()
            database.read_now(services.packages.forget_others)
            database.read_now(services.plan_files.forget_others)
            config = _config(settings, services, home)
            try:
                config.load()
            except OSError as error:
                raise ServerRefused(f"tls: the certificate and its key cannot be used: {error}") from error
            if over is not None and over.workers:
                from ordito.server.stores.stores import own_workers

                stack.enter_context(own_workers(home, over.store, over.key, over.workers))
            _Server(config, services, _link(services), opens=opens).run([listener])
    return 0


def _check_over(settings: ServerSettings, over: OverStore | None, ensembles: list[Path]) -> None:
    """Refuse what does not go together with a store. Raises ``ServerRefused``."""
    if over is None:
        return
    if settings.isolation == BUBBLEWRAP:
        hint = "take `isolation` out of server.yaml: workers of a user of their own carry out what others ask for"
        raise ServerRefused("a server over a store begins no operation itself, and isolates none", hint)
    if not over.key:
        hint = "`ordito store init --key FILE` makes it; give the same to all servers and workers"
        raise ServerRefused("a server over a store needs the key of its workers: --key FILE", hint)
    if not Path(over.key).is_file():
        raise ServerRefused(f"there is no {over.key}", "bring it from a worker; `ordito store init --key` makes one")
    if ensembles:
        hint = "put it into the store: `ordito store import`"
        raise ServerRefused(f"a server over a store serves no directory, as {ensembles[0]}", hint)


def _stores(home: Path, over: OverStore | None) -> Stores | None:
    if over is None:
        return None
    # Without a store nothing of it is imported.
    from ordito.server.stores.stores import Stores

    try:
        return Stores(home, over.store, over.key)
    except EnsembleError as error:
        raise ServerRefused(error.message, error.hint) from error


def _say(text: str, stream: TextIO) -> None:
    with contextlib.suppress(OSError):
        stream.write(f"{text}\n")
        stream.flush()


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Hold the lock of a home: two servers on one would disturb each other."""
    handle = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    except BlockingIOError:
        holder = (home / "lock").read_text(encoding="ascii", errors="replace").strip()
        raise ServerRefused(f"a server runs already on {home}: process {holder}", "stop that one first") from None
    finally:
        os.close(handle)


def _key(path: Path) -> bytes:
    """The key of the server, which is made at the first start."""
    with contextlib.suppress(FileExistsError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(Fernet.generate_key())
            file.flush()
            os.fsync(file.fileno())
    try:
        found = path.read_bytes().strip()
        Fernet(found)
    except ValueError as error:
        raise ServerRefused(f"{path} is no key of a server", "put it back from a backup") from error
    return found


def _database_of(home: Path, settings: ServerSettings, over: OverStore | None) -> Path | Store:
    """Where the database is, by what the settings say; over a store it is in that one unless they name another. Raises
    ``ServerRefused``."""
    if settings.database == SQLITE:
        return home / "server.db" if over is None else over.store
    try:
        from ordito.server.database.postgres import postgres_of
    except ModuleNotFoundError as error:
        hint = "install it: pip install 'ordito[cluster]'"
        raise ServerRefused(f"a database in PostgreSQL needs {error.name}", hint, "needs-extra") from error
    return postgres_of(settings.database)


def _check_key(connection: Connection, key: bytes) -> None:
    """All servers of one database have the same key: what one of them has sealed the others must open."""
    own = hashlib.sha256(key).digest()
    known = connection.execute(select(SERVER_KEYS.c.digest)).scalars().all()
    if not known:
        connection.execute(insert(SERVER_KEYS).values(digest=own))
    elif own not in known:
        has_sealed = connection.execute(select(func.count()).select_from(PLANS)).scalar()
        raise ServerRefused(
            "another key than this one seals what is in the database",
            "copy the file `key` from the home of another server of this database, or from a backup"
            if has_sealed
            else "copy the file `key` from the home of the server that was started first",
        )


def _check_users(database: Database, settings: ServerSettings) -> None:
    """On a loopback address the first user is made; elsewhere there must be one who can sign in."""
    can_sign_in = select(func.count()).select_from(USERS).where(USERS.c.password != "", ~USERS.c.disabled)
    refuse_open(settings, has_users=bool(database.read_now(lambda c: c.execute(can_sign_in).scalar())))
    count = select(func.count()).select_from(USERS)
    if not database.read_now(lambda connection: connection.execute(count).scalar()):
        first = {"name": current_user(), "password": "", "admin": True, "auditor": False, "disabled": False}
        database.write_now(lambda connection: connection.execute(insert(USERS).values(**first, created=time.time())))


def _link(services: Services) -> str:
    """A link with which the first user signs in, as long as there is no other way; "" beyond loopback."""
    if not services.settings.is_loopback:
        return ""
    database = services.database
    admins = select(USERS.c.name, USERS.c.password).where(USERS.c.admin, ~USERS.c.disabled)
    found = database.read_now(lambda connection: connection.execute(admins).all())
    if not found or any(password for _, password in found):
        return ""
    user = found[0].name
    secret = database.write_now(lambda connection: new_link(connection, user, time.time()))
    return f"{base_url(services.settings, services.port)}/sign-in#{secret}"


def _add_ensembles(database: Database, found: list[Path]) -> None:
    """Serve ensembles where they lie, in the project ``default``."""
    for directory in found:
        if not Layout(directory).exists:
            raise ServerRefused(f"{directory} holds no ensemble", "name the directory that has its ensemble.yaml")
        name = NOT_IN_NAMES.sub("-", directory.name.lower()).strip("-")[:LONGEST_NAME] or "ensemble"
        database.write_now(partial(_add, name=name, directory=str(directory)))


def _add(connection: Connection, name: str, directory: str) -> None:
    now = time.time()
    if connection.execute(select(PROJECTS.c.name).where(PROJECTS.c.name == DEFAULT)).first() is None:
        connection.execute(insert(PROJECTS).values(name=DEFAULT, description="", created=now))
    mine = (ENSEMBLES.c.project == DEFAULT) & (ENSEMBLES.c.name == name)
    known = connection.execute(select(ENSEMBLES.c.directory).where(mine)).scalar()
    if known is None:
        connection.execute(insert(ENSEMBLES).values(project=DEFAULT, name=name, directory=directory, created=now))
    elif known != directory:
        raise ServerRefused(f"default/{name} is {known} already", f"rename {directory}, or remove the other first")


def _listening(settings: ServerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Only for a socket that says that it is TCP does asyncio send small answers at once.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        hint = "name another address with --listen, as in --listen 127.0.0.1:0 for any port that is free"
        raise ServerRefused(f"cannot listen on {settings.listen}: {error.strerror}", hint) from error
    return listener


def _config(settings: ServerSettings, services: Services, home: Path) -> uvicorn.Config:
    tls = settings.tls
    return uvicorn.Config(
        application(services),
        http=PatientConnection,
        limit_concurrency=most_connections(),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=16_384,
        timeout_graceful_shutdown=int(GRACE),
        ssl_certfile=str(home / tls.certificate) if tls is not None else None,
        ssl_keyfile=str(home / tls.key) if tls is not None else None,
    )


def _open(address: str) -> bool:
    """Open a page in a browser with a window; one in the terminal would take it from the server."""
    has_window = sys.platform == "darwin" or any(os.environ.get(name) for name in WINDOWS)
    return has_window and webbrowser.open(address)


class _Server(uvicorn.Server):
    """Says where it listens, and tells streams to end when it is to stop."""

    def __init__(self, config: uvicorn.Config, services: Services, link: str, *, opens: bool) -> None:
        super().__init__(config)
        self._services = services
        self._link = link
        self._opens = opens

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        url = base_url(self._services.settings, self._services.port)
        _say(f"Ordito serves {url} (Ctrl-C stops it; jobs go on)", sys.stdout)
        if self._link:
            _say(f"Sign in within 5 minutes: {self._link}", sys.stdout)
        if self._opens and not await asyncio.to_thread(_open, self._link or url):
            _say("There is no browser here that could be opened; open that address yourself", sys.stderr)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._services.draining.set()
        # Being told to stop is no failure, so the signal is not raised again at the end.
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True
