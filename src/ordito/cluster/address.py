"""The address of a store as somebody gives it: where the password comes from, and that the server is the right one."""

from __future__ import annotations

import stat
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ordito.cluster.store import Store
from ordito.ensemble.errors import EnsembleError, explained

SYSTEM_ROOTS = 160_000
"""The version of libpq that knows the authorities of the system."""

OWN_ROOTS = Path(".postgresql") / "root.crt"
"""In the home directory of the user, the authorities that libpq takes by default."""


def store_at(address: str, file: str = "") -> Store:
    """The store at ``postgresql://...``, or the one whose address, with its password, is in a file that nobody else
    may read. Beyond this machine the server's certificate and name are checked, unless the address says otherwise.
    Raises ``EnsembleError``."""
    known = _known(_read(file) if file else address, file or "the address of the store")
    if "password" in known and not file:
        raise EnsembleError(
            "the address of the store holds a password, which others can see on this machine",
            "leave it out: give it in the file that PGPASSFILE names, or the whole address by --store-file FILE",
        )
    return _secured(known)


def database_at(address: str, where: str) -> Store:
    """The same of an address that nobody else can see, and which may hold a password; ``where`` it stands. Raises
    ``EnsembleError``."""
    return _secured(_known(address, where))


def _known(given: str, what: str) -> dict[str, str]:
    try:
        return {name: str(value) for name, value in conninfo_to_dict(given).items() if value is not None}
    except psycopg.Error:
        raise EnsembleError(
            f"{what} is no address of a PostgreSQL database", "write postgresql://USER@HOST/DATABASE"
        ) from None


def _secured(known: dict[str, str]) -> Store:
    if "sslmode" not in known and not _is_here(known):
        known["sslmode"] = "verify-full"
        has_roots = "sslrootcert" in known or (Path.home() / OWN_ROOTS).exists()
        if not has_roots and psycopg.pq.version() >= SYSTEM_ROOTS:
            known["sslrootcert"] = "system"
    return Store(make_conninfo("", **known), _shown(known))


def _read(file: str) -> str:
    path = Path(file)
    with explained("read", path):
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise EnsembleError(
                f"others may read {file}, which holds the password of the store",
                f"take that right away: chmod 600 {file}",
            )
        return path.read_text(encoding="utf-8").strip()


def _is_here(known: dict[str, str]) -> bool:
    """Whether all hosts are this machine, or sockets on it."""
    hosts = (known.get("hostaddr") or known.get("host", "")).split(",")
    return all(not host or host.startswith(("/", "@", "127.")) or host in ("localhost", "::1") for host in hosts)


def _shown(known: dict[str, str]) -> str:
    user = f"{known['user']}@" if "user" in known else ""
    port = f":{known['port']}" if "port" in known else ""
    return f"postgresql://{user}{known.get('host', '')}{port}/{known.get('dbname', '')}"
