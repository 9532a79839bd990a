"""Who may do what: the permissions, and the roles that give them. Nothing else decides."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Permission(StrEnum):
    """What somebody may do in a project, or in one ensemble of it."""

    READ = "read"
    """See everything but what is printed and given out."""

    LOGS = "logs"
    """See what operations print, outputs, reports."""

    PLAN = "plan"
    """Plan, validate, compare."""

    OPERATE = "operate"
    """Start, stop, restart, scale, heal, check, discover; run workflows of the template; report events; check hosts."""

    CONTROL = "control"
    """Cancel and resume jobs, discard plans, freeze."""

    DEPLOY = "deploy"
    """Deploy, upgrade, roll back, retry, skip; packages."""

    RUN = "run"
    """Run any operation, with inputs of one's own."""

    APPROVE = "approve"
    """Approve and reject plans of others."""

    REMOVE = "remove"
    """Undeploy."""

    CONFIGURE = "configure"
    """Ensembles, their specification, inventory, rules, schedules, webhooks."""

    SECRETS = "secrets"
    """Set and remove secrets."""

    RECORDS = "records"
    """Change records by hand, replay, unlock, release hosts."""

    MEMBERS = "members"
    """Who has which role; service accounts."""

    AUDIT = "audit"
    """See what was done, on the whole server."""

    ADMINISTER = "administer"
    """Users, groups, projects, settings of the whole server."""


class Access(StrEnum):
    """Who may use a route that is about no project."""

    ANYBODY = "-"
    """Without signing in."""

    ME = "me"
    """Whoever is signed in, about oneself."""


_READ = frozenset({Permission.READ})
_PLANNER = _READ | {Permission.LOGS, Permission.PLAN}
_OPERATOR = _PLANNER | {Permission.OPERATE, Permission.CONTROL}
_DEPLOYER = _OPERATOR | {Permission.DEPLOY, Permission.RUN}
_APPROVER = _READ | {Permission.LOGS, Permission.APPROVE}
_MAINTAINER = _DEPLOYER | _APPROVER | {Permission.REMOVE, Permission.CONFIGURE, Permission.SECRETS, Permission.RECORDS}
_OWNER = _MAINTAINER | {Permission.MEMBERS}

ROLES: Mapping[str, frozenset[Permission]] = {
    "viewer": _READ,
    "planner": _PLANNER,
    "operator": _OPERATOR,
    "deployer": _DEPLOYER,
    "approver": _APPROVER,
    "maintainer": _MAINTAINER,
    "owner": _OWNER,
}
"""The roles in a project or an ensemble, and what each may do."""

OWNER = "owner"

ADMIN: frozenset[Permission] = frozenset(Permission)
"""What the administrators of the server may do, everywhere."""

AUDITOR = frozenset({Permission.READ, Permission.AUDIT})
"""What auditors may do, everywhere."""

OF_SERVER = frozenset({Permission.AUDIT, Permission.ADMINISTER})
"""The permissions that are about the server, and not about a project."""
