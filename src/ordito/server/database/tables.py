"""The tables of the server: what cannot be found out from ensembles. Times are seconds since the epoch."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKeyConstraint, Index, Integer, LargeBinary, MetaData, Table, Text

METADATA = MetaData()


def _text(name: str, *, key: bool = False) -> Column[str]:
    return Column(name, Text, primary_key=key, nullable=False)


def _time(name: str) -> Column[float]:
    return Column(name, Float, nullable=False)


USERS = Table(
    "user",
    METADATA,
    _text("name", key=True),
    # Argon2id; "" where there is none, so that nobody can sign in with a password.
    _text("password"),
    Column("admin", Boolean, nullable=False),
    Column("auditor", Boolean, nullable=False),
    Column("disabled", Boolean, nullable=False),
    _time("created"),
)

MEMBERS = Table("member", METADATA, _text("team", key=True), _text("user", key=True))
"""Who belongs to a group; a group without members is not known."""

SESSIONS = Table(
    "session",
    METADATA,
    _text("id", key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
    _text("user"),
    _text("address"),
    _text("agent"),
    _time("created"),
    _time("seen"),
)

LINKS = Table(
    "link",
    METADATA,
    Column("hash", LargeBinary, primary_key=True),
    _text("user"),
    _time("expires"),
)
"""Links with which somebody signs in once."""

PROJECTS = Table("project", METADATA, _text("name", key=True), _text("description"), _time("created"))


def _of_project() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project"], ["project.name"], ondelete="CASCADE")


ACCOUNTS = Table(
    "account",
    METADATA,
    _text("project", key=True),
    _text("name", key=True),
    _time("created"),
    _of_project(),
)

TOKENS = Table(
    "token",
    METADATA,
    _text("id", key=True),
    Column("hash", LargeBinary, nullable=False),
    _text("name"),
    # A user, where there is no project, or an account of the project.
    _text("project"),
    _text("owner"),
    # "" for all that its owner may do.
    _text("role"),
    # Names with a space between them; "" for all.
    _text("projects"),
    _time("expires"),
    _time("created"),
    _time("used"),
)

BINDINGS = Table(
    "binding",
    METADATA,
    _text("project", key=True),
    # "" for all of the project.
    _text("ensemble", key=True),
    # user, group or account
    _text("kind", key=True),
    _text("who", key=True),
    _text("role", key=True),
    _of_project(),
)

ENSEMBLES = Table(
    "ensemble",
    METADATA,
    _text("project", key=True),
    _text("name", key=True),
    _text("directory"),
    _time("created"),
    ForeignKeyConstraint(["project"], ["project.name"]),
)

ANSWERS = Table(
    "idempotency",
    METADATA,
    _text("principal", key=True),
    _text("key", key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    _time("expires"),
)
"""Answers that are given again, sealed with the server's key."""

AUDIT = Table(
    "audit",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    _time("time"),
    _text("principal"),
    _text("by"),
    _text("address"),
    _text("request"),
    _text("action"),
    _text("project"),
    _text("ensemble"),
    _text("object"),
    _text("outcome"),
    _text("detail"),
    Column("hash", LargeBinary, nullable=False),
    Index("audit_of_project", "project", "number"),
)
"""What was done: each row has the hash of itself and of the row before it."""
