"""Who a request is from: by a session of a browser, or by a token."""

from __future__ import annotations

import hmac

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from ordito.server.database.tables import LINKS, LOGINS, PROVIDER_LOGINS, SESSIONS, TOKENS
from ordito.server.identity.principal import Principal, account_principal, user_principal
from ordito.server.identity.tokens import hashed, new_secret, parts_of

IDLE = 12 * 3600.0
"""Seconds after which a session that nobody uses ends."""

LONGEST = 7 * 24 * 3600.0
"""Seconds after which every session ends."""

LINK_SECONDS = 300.0

NEWS_AFTER = 60.0
"""Seconds after which the last use of a session or token is written down again."""


def new_session(
    connection: Connection, user: str, address: str, agent: str, now: float, issuer: str = ""
) -> tuple[str, str]:
    """Begin a session: its id, and the secret for the cookie. ``issuer`` is the provider that has signed the user in,
    "" for none."""
    secret = new_secret()
    name = hashed(secret).hex()[:16]
    row = {"id": name, "hash": hashed(secret), "user": user, "address": address, "agent": agent[:200]}
    connection.execute(insert(SESSIONS).values(**row, created=now, seen=now, issuer=issuer))
    return name, secret


def by_session(connection: Connection, secret: str, now: float) -> tuple[Principal, bool] | None:
    """The user of a session, and whether its use is to be written down; None where it is over."""
    row = connection.execute(select(SESSIONS).where(SESSIONS.c.hash == hashed(secret))).one_or_none()
    if row is None or now - row.seen > IDLE or now - row.created > LONGEST:
        return None
    found = user_principal(connection, row.user, by=f"session {row.id}")
    return (found, now - row.seen > NEWS_AFTER) if found is not None else None


def by_token(connection: Connection, text: str, now: float) -> tuple[Principal, bool] | None:
    """The owner of a token, narrowed as it is, and whether its use is to be written down; None where it is unknown or
    over."""
    parts = parts_of(text)
    row = connection.execute(select(TOKENS).where(TOKENS.c.id == parts[0])).one_or_none() if parts else None
    if parts is None or row is None or not hmac.compare_digest(row.hash, parts[1]) or now >= row.expires:
        return None
    more = {"by": f"token {row.id}", "role": row.role, "projects": tuple(row.projects.split())}
    if row.project:
        found: Principal | None = account_principal(connection, row.project, row.owner, **more, made_by=row.made_by)
    else:
        found = user_principal(connection, row.owner, **more)
    return (found, now - row.used > NEWS_AFTER) if found is not None else None


class Credentials(msgspec.Struct, frozen=True):
    """With what a request says who asks: a token, or the secret of a session; "" for none."""

    token: str = ""
    session: str = ""


def by_credentials(connection: Connection, given: Credentials, now: float) -> tuple[Principal, bool] | None:
    """Who asks, and whether that is to be written down; None for nobody."""
    if given.token:
        return by_token(connection, given.token, now)
    return by_session(connection, given.session, now) if given.session else None


def note_use(connection: Connection, by: str, now: float) -> None:
    """Write down that a session or token is used."""
    kind, _, name = by.partition(" ")
    if kind == "session":
        connection.execute(update(SESSIONS).where(SESSIONS.c.id == name).values(seen=now))
    else:
        connection.execute(update(TOKENS).where(TOKENS.c.id == name).values(used=now))


def new_link(connection: Connection, user: str, now: float) -> str:
    """The secret of a link with which a user signs in once."""
    secret = new_secret()
    connection.execute(insert(LINKS).values(hash=hashed(secret), user=user, expires=now + LINK_SECONDS))
    return secret


def by_link(connection: Connection, secret: str, now: float) -> str:
    """The user of a link, which is used up by it; "" where it is unknown or over."""
    row = connection.execute(select(LINKS).where(LINKS.c.hash == hashed(secret))).one_or_none()
    connection.execute(delete(LINKS).where((LINKS.c.hash == hashed(secret)) | (LINKS.c.expires < now)))
    return row.user if row is not None and now < row.expires else ""


def prune(connection: Connection, now: float) -> None:
    """Forget sessions, links, tokens, and sign-ins that nobody has confirmed, once they are over."""
    connection.execute(delete(LOGINS).where(LOGINS.c.expires < now))
    connection.execute(delete(PROVIDER_LOGINS).where(PROVIDER_LOGINS.c.expires < now))
    connection.execute(delete(SESSIONS).where((SESSIONS.c.seen < now - IDLE) | (SESSIONS.c.created < now - LONGEST)))
    connection.execute(delete(LINKS).where(LINKS.c.expires < now))
    connection.execute(delete(TOKENS).where(TOKENS.c.expires < now))
