"""What a server says of itself to commands: who is signed in, and the things that only a server has.

The API answers with these structs, and commands read them: names that a command does not know are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.results.answer import Result, ResultData


class SignedInData(ResultData, frozen=True, tag="ordito.login/1"):
    """Somebody was signed in."""

    server: str
    """The URL of the server."""

    name: str
    """The name under which it is remembered."""

    user: str


class ConfirmedData(ResultData, frozen=True, tag="ordito.login-confirm/1"):
    """The sign-in of another command was confirmed."""

    server: str
    command: str
    """What it calls itself."""

    address: str
    """Where it comes from."""


class SignedOutData(ResultData, frozen=True, tag="ordito.logout/1"):
    """Somebody was signed out, and the server was forgotten."""

    server: str
    ended: bool
    """Whether the token was still valid, and was ended."""


class MadeLogin(msgspec.Struct, frozen=True):
    """A sign-in that waits to be confirmed."""

    id: str
    code: str
    """What somebody who is signed in types to confirm it."""

    secret: str
    """Goes into the header ``Ordito-Login`` of who asks for the token. It is shown once."""

    seconds: int
    """How long it can be confirmed."""


class LoginAnswer(msgspec.Struct, frozen=True):
    """Whether a sign-in is confirmed."""

    user: str
    """Who has confirmed it, "" for nobody yet."""

    token: str | None
    """The token, null as long as nobody has confirmed it. It is given once."""

    expires: str
    """When the token expires, or until when the sign-in can be confirmed."""


class LoginData(msgspec.Struct, frozen=True):
    """What wants to sign in."""

    id: str
    name: str
    address: str
    """Where it comes from."""

    expires: str


class MeData(msgspec.Struct, frozen=True):
    """Who asks, and what that is permitted."""

    kind: str
    """``user`` or ``account``."""

    name: str
    project: str
    """The project of a service account, "" for a user."""

    by: str
    """The session or token with which it asks."""

    server: tuple[str, ...]
    """The permissions on the server."""

    projects: Mapping[str, tuple[str, ...]]
    """The permissions by project, and by ``project/ensemble`` where they differ."""

    sign_out: str = ""
    """Where a browser goes after its session, to sign out of the provider that has begun it; "" for nowhere."""


class WhoAmIData(ResultData, frozen=True, tag="ordito.whoami/1"):
    """Who is signed in, and what that permits."""

    server: str
    """The URL of the server."""

    kind: str
    """``user`` or ``account``."""

    name: str
    project: str
    """The project of a service account, "" for a user."""

    by: str
    """The session or token."""

    permissions: tuple[str, ...]
    """Those on the server itself."""

    projects: Mapping[str, tuple[str, ...]]
    """Permissions by project, and by project/ensemble where they differ."""


class ProjectData(msgspec.Struct, frozen=True):
    """A project."""

    name: str
    description: str
    created: str
    allowed: tuple[str, ...]
    """What who asks may do in it."""


class ProjectsData(ResultData, frozen=True, tag="ordito.projects-list/1"):
    """The projects."""

    projects: tuple[ProjectData, ...]


class MemberLine(msgspec.Struct, frozen=True):
    """Who has a role in a project."""

    kind: str
    """``user``, ``group`` or ``account``."""

    who: str
    role: str
    ensemble: str = ""
    """The ensemble, "" for all of the project."""


class MembersData(ResultData, frozen=True, tag="ordito.projects-members/1"):
    """Who has which role in a project."""

    project: str
    members: tuple[MemberLine, ...]


class SummaryLine(msgspec.Struct, frozen=True):
    """In short how an ensemble is."""

    service: str = ""
    environment: str = ""
    status: str = ""
    """The effective status of the whole service."""

    revision: int = 0
    instances: Mapping[str, int] = {}
    """How many instances there are, by effective status."""

    drifted: int = 0
    """How many of them were found to differ from how they were created."""

    attention: tuple[str, ...] = ()
    """Why somebody should look at it."""


class EnsembleLine(msgspec.Struct, frozen=True):
    """An ensemble that a server knows."""

    project: str
    name: str
    created: str
    exists: bool
    """Whether its directory holds an ensemble now."""

    holder: str | None
    """Who works on it now, null for nobody."""

    allowed: tuple[str, ...]
    """What who asks may do with it."""

    labels: Mapping[str, str] = {}
    package: str | None = None
    """The digest of the package that it is made of, null for none."""

    package_labels: tuple[str, ...] = ()
    """The labels of that package, as in ``shop:2.4``."""

    summary: SummaryLine | None = None
    """In short how it is; null where that is not known yet, or cannot be found out."""

    problem: str = ""
    """Why that cannot be found out, "" where it can."""


class EnsemblesData(ResultData, frozen=True, tag="ordito.ensembles-list/1"):
    """The ensembles."""

    ensembles: tuple[EnsembleLine, ...]


class EnsembleShownData(ResultData, frozen=True, tag="ordito.ensembles-show/1"):
    """One ensemble."""

    ensemble: EnsembleLine


class UserData(msgspec.Struct, frozen=True):
    """A user of the server."""

    name: str
    admin: bool
    auditor: bool
    disabled: bool
    has_password: bool
    created: str
    subject: str = ""
    """As whom the provider knows them that signs people in, "" where it does not."""


class UsersData(ResultData, frozen=True, tag="ordito.users-list/1"):
    """The users."""

    users: tuple[UserData, ...]


class LinkData(msgspec.Struct, frozen=True):
    """A link with which a user signs in once, within five minutes."""

    user: str
    link: str


class UserLinkData(ResultData, frozen=True, tag="ordito.users-reset/1"):
    """A link with which a user signs in once, within five minutes."""

    user: str
    link: str


class GroupData(msgspec.Struct, frozen=True):
    """A group of users, who have the roles that are bound to it."""

    name: str
    members: tuple[str, ...]


class GroupsData(ResultData, frozen=True, tag="ordito.groups-list/1"):
    """The groups."""

    groups: tuple[GroupData, ...]


class TokenData(msgspec.Struct, frozen=True):
    """A token, without the token itself."""

    id: str
    name: str
    expires: str
    created: str
    used: str | None
    """When it was used last, null for never."""

    role: str
    """The role to which it is narrowed, "" for none."""

    projects: tuple[str, ...]
    """The projects to which it is narrowed, none for all."""


class TokensData(ResultData, frozen=True, tag="ordito.tokens-list/1"):
    """Tokens of a user, or of a service account."""

    tokens: tuple[TokenData, ...]


class MadeToken(TokenData, frozen=True, kw_only=True):
    """A new token. This is the only time that it is shown."""

    token: str


class MadeTokenData(ResultData, frozen=True, tag="ordito.tokens-create/1"):
    """A new token. This is the only time that it is shown."""

    id: str
    name: str
    expires: str
    token: str


class AccountData(msgspec.Struct, frozen=True):
    """A service account: programs act as it, with tokens."""

    name: str
    created: str
    tokens: tuple[TokenData, ...]


class AccountsData(ResultData, frozen=True, tag="ordito.accounts-list/1"):
    """The service accounts of a project."""

    project: str
    accounts: tuple[AccountData, ...]


class DeedData(msgspec.Struct, frozen=True):
    """A row of the audit log."""

    number: int
    time: str
    principal: str
    by: str
    address: str
    request: str
    action: str
    project: str
    ensemble: str
    object: str
    outcome: str
    detail: str
    hash: str


class AuditData(ResultData, frozen=True, tag="ordito.audit/1"):
    """What was done, the newest first."""

    deeds: tuple[DeedData, ...]


class SettingsShownData(Result, frozen=True):
    """How a server is set, as far as its users notice; what is secret in its settings is not among it."""

    banner: str
    """A message to all who use the server, "" for none."""

    isolation: str
    """``bubblewrap`` where projects see nothing of each other, else ``none``."""

    warning: str
    """What its administrators should change, "" for nothing."""

    jobs: Mapping[str, object]
    """How jobs run."""

    limits: Mapping[str, object]
    """What a request may use."""

    egress: tuple[str, ...]
    """What the server itself may reach."""

    changed: Mapping[str, object]
    """What was set through the API; null is as the server's own file says."""


class DoneData(Result, frozen=True):
    """A server has carried out a change of which there is nothing more to say."""

    done: str
    """What was done, as in `removed`."""

    name: str
    """What it was done with."""


class RemovalData(msgspec.Struct, frozen=True, kw_only=True):
    """What goes with an ensemble that is removed from a server."""

    instances: int
    """How many instances exist, which go on running and are known no more."""

    plans: int
    """How many plans there are, with what they were asked for and what came of them."""

    approvals: int
    schedules: int
    sources: int
    """1 where it follows a branch in git."""

    rules: int
    freezes: int
    roles: int
    """How many roles somebody has in it alone."""

    open_plans: tuple[str, ...]
    """The ids of plans that are open: as long as there are any, it is not removed."""

    digest: str
    """What it is known by; the removal says it."""

    @property
    def goes(self) -> tuple[str, ...]:
        """What goes with it, in words: only what there is."""
        nouns = ("plan", "approval", "schedule", "git source", "rule", "freeze", "role")
        counts = (self.plans, self.approvals, self.schedules, self.sources, self.rules, self.freezes, self.roles)
        return tuple(
            f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in zip(counts, nouns, strict=True) if count
        )
