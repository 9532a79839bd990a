"""What a provider says of somebody, as a user of this server: the name, the groups, and who administers it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from ordito.server.database.tables import IDENTITIES, MEMBERS, USERS
from ordito.server.names import USER_NAME
from ordito.server.problems import ApiProblem
from ordito.server.settings import Oidc

MOST_GROUPS = 1_000
LONGEST_SUBJECT = 255
ASK = "ask an administrator of this server"


Claims = Mapping[str, object]
"""What a token says."""


class Person(msgspec.Struct, frozen=True):
    """Somebody whom the provider has signed in."""

    issuer: str
    subject: str
    name: str
    """How a new user is called, "" where the claim gives no name that users may have."""

    groups: tuple[str, ...]


def person_of(oidc: Oidc, claims: Claims) -> Person:
    """The person that claims are about. Raises ``ApiProblem`` for one who may not sign in."""
    name, said = claims.get(oidc.name_claim), claims.get(oidc.groups_claim) if oidc.groups_claim else None
    groups = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    named = tuple(dict.fromkeys(one for one in groups if isinstance(one, str)))[:MOST_GROUPS]
    if oidc.groups and not set(oidc.groups) & set(named):
        hint = f"{ASK}, or of the provider: it takes a group of {', '.join(oidc.groups)}"
        raise ApiProblem("oidc-user", "you are in none of the groups that may sign in here", hint)
    fits = isinstance(name, str) and re.fullmatch(USER_NAME, name) is not None
    return Person(oidc.issuer, str(claims["sub"]), str(name) if fits else "", named)


def signed_in(connection: Connection, oidc: Oidc, person: Person, now: float) -> str:
    """The name of the user who a person is, who is made where that is permitted. Groups and roles on the server become
    those that the provider says. Raises ``ApiProblem``."""
    known = (IDENTITIES.c.issuer == person.issuer) & (IDENTITIES.c.subject == person.subject)
    user = connection.execute(select(IDENTITIES.c.user).where(known)).scalar() or _made(connection, oidc, person, now)
    row = connection.execute(select(USERS).where(USERS.c.name == user)).one()
    if row.disabled:
        raise ApiProblem("oidc-user", f'the user "{user}" is disabled here', ASK)
    roles = {
        name: bool(set(groups) & set(person.groups))
        for name, groups in (("admin", oidc.admin_groups), ("auditor", oidc.auditor_groups))
        if groups
    }
    if any(getattr(row, name) != value for name, value in roles.items()):
        connection.execute(update(USERS).where(USERS.c.name == user).values(**roles))
    _set_groups(connection, user, person)
    return user


def _made(connection: Connection, oidc: Oidc, person: Person, now: float) -> str:
    """A new user. One of the same name is never taken for the same person: names are given anew, subjects are not."""
    if not oidc.new_users:
        hint = f"{ASK} to make you one: `ordito users change NAME --subject {person.subject}`"
        raise ApiProblem("oidc-user", "there is no user for you here, and none is made by signing in", hint)
    if not person.name:
        hint = f"{ASK}: `name_claim` in server.yaml says which claim gives it"
        said = f'the provider gives no name in "{oidc.name_claim}" that a user here may have'
        raise ApiProblem("oidc-user", said, hint)
    if connection.execute(select(USERS.c.name).where(USERS.c.name == person.name)).first() is not None:
        hint = f"if that is you, {ASK}: `ordito users change {person.name} --subject {person.subject}`"
        raise ApiProblem("oidc-user", f'there is another user "{person.name}" here already', hint)
    row = {"name": person.name, "password": "", "admin": False, "auditor": False, "disabled": False}
    connection.execute(insert(USERS).values(**row, created=now))
    link(connection, person.issuer, person.subject, person.name)
    return person.name


def link(connection: Connection, issuer: str, subject: str, user: str) -> None:
    """Let a user be who a provider calls so; "" for nobody any more. Raises ``ApiProblem`` where it is another user."""
    connection.execute(delete(IDENTITIES).where(IDENTITIES.c.user == user))
    if not subject:
        return
    known = (IDENTITIES.c.issuer == issuer) & (IDENTITIES.c.subject == subject)
    if other := connection.execute(select(IDENTITIES.c.user).where(known)).scalar():
        hint = f"take it from that one first: `ordito users change {other} --subject ''`"
        raise ApiProblem("exists", f'the provider\'s "{subject[:80]}" is the user "{other}" already', hint)
    connection.execute(insert(IDENTITIES).values(issuer=issuer, subject=subject, user=user))


def _set_groups(connection: Connection, user: str, person: Person) -> None:
    """Let a user be in the groups that the provider says, and in those in which administrators have put them."""
    connection.execute(delete(MEMBERS).where((MEMBERS.c.user == user) & (MEMBERS.c.issuer != "")))
    own: Sequence[str] = connection.execute(select(MEMBERS.c.team).where(MEMBERS.c.user == user)).scalars().all()
    new = [one for one in person.groups if one not in own and re.fullmatch(USER_NAME, one)]
    if new:
        rows = [{"team": one, "user": user, "issuer": person.issuer} for one in new]
        connection.execute(insert(MEMBERS), rows)
