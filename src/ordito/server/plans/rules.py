"""Rules: which plans need approvals, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from sqlalchemy import Connection, select

from ordito.planning.risks import Risk
from ordito.results.server_plans import ApprovalData, WantedApprovals
from ordito.server.database.tables import BINDINGS, MEMBERS, RULES
from ordito.server.identity.principal import GROUP, USER, user_principal
from ordito.server.names import UserName
from ordito.server.permissions import ROLES, Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import Fields


class GivenWhen(Fields, frozen=True):
    """Which plans a rule is about: those that fit all that is said, by any of the names."""

    workflows: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    risks: tuple[Risk, ...] = ()


class GivenBy(Fields, frozen=True):
    """Whose approvals count: who has one of the roles, or is in one of the groups; else all who may approve."""

    roles: tuple[str, ...] = ()
    groups: tuple[UserName, ...] = ()


class GivenRule(Fields, frozen=True):
    """A rule: plans that it is about need ``count`` approvals."""

    when: GivenWhen = GivenWhen()
    count: Annotated[int, msgspec.Meta(ge=1, le=20)] = 1
    by: GivenBy = GivenBy()
    author_may: bool = False
    """Whether the author of the plan may approve it too."""


class Rules(Fields, frozen=True):
    """All rules of a project or an ensemble, in place of those that it had."""

    rules: Annotated[tuple[GivenRule, ...], msgspec.Meta(max_length=100)] = ()


def rules_of(connection: Connection, project: str, ensemble: str = "") -> Rules:
    """The rules of a project, or those of an ensemble alone."""
    mine = (RULES.c.project == project) & (RULES.c.ensemble == ensemble)
    found = connection.execute(select(RULES.c.body).where(mine)).scalar()
    return msgspec.json.decode(found, type=Rules) if found else Rules()


def are_there_rules(connection: Connection, project: str, ensemble: str) -> bool:
    """Whether there are any rules for an ensemble."""
    return bool(rules_of(connection, project).rules or rules_of(connection, project, ensemble).rules)


def check_rules(rules: Rules, workflows: Sequence[str]) -> None:
    """Refuse rules that can never apply. Raises ``ApiProblem``."""
    for rule in rules.rules:
        for workflow in rule.when.workflows:
            if workflow not in workflows:
                raise ApiProblem(
                    "unknown-workflow", f'a rule names the workflow "{workflow[:80]}"', f"use {', '.join(workflows)}"
                )
        for role in rule.by.roles:
            if Permission.APPROVE not in ROLES.get(role, ()):
                able = ", ".join(name for name, may in ROLES.items() if Permission.APPROVE in may)
                raise ApiProblem("unknown-role", f'nobody approves as "{role[:80]}"', f"use {able}")


def wanted_by(
    connection: Connection, project: str, ensemble: str, workflow: str, environment: str, risks: Sequence[str]
) -> tuple[WantedApprovals, ...]:
    """The approvals that a plan needs, by all rules that are about it."""
    rules = (*rules_of(connection, project).rules, *rules_of(connection, project, ensemble).rules)
    return tuple(
        WantedApprovals(rule.count, rule.by.roles, rule.by.groups, rule.author_may)
        for rule in rules
        if (not rule.when.workflows or workflow in rule.when.workflows)
        and (not rule.when.environments or environment in rule.when.environments)
        and (not rule.when.risks or set(risks) & {str(risk) for risk in rule.when.risks})
    )


def is_as_strict(new: WantedApprovals, old: WantedApprovals) -> bool:
    """Whether approvals that satisfy ``new`` satisfy ``old`` as well."""
    is_same = (set(new.roles), set(new.groups)) == (set(old.roles), set(old.groups))
    is_by_anybody = not old.roles and not old.groups
    return (is_same or is_by_anybody) and new.count >= old.count and new.author_may <= old.author_may


def counted(
    connection: Connection, project: str, ensemble: str, wanted: WantedApprovals, given: Sequence[ApprovalData]
) -> int:
    """How many of the given approvals count for one rule: those of users who still may approve, and fit."""
    return sum(one.decision == "approve" and _counts(connection, project, ensemble, wanted, one.who) for one in given)


def _counts(connection: Connection, project: str, ensemble: str, wanted: WantedApprovals, user: str) -> bool:
    who = user_principal(connection, user)
    if who is None or Permission.APPROVE not in who.permissions(project, ensemble):
        return False
    groups = set(connection.execute(select(MEMBERS.c.team).where(MEMBERS.c.user == user)).scalars())
    if not wanted.roles and not wanted.groups:
        return True
    if groups & set(wanted.groups):
        return True
    here = (BINDINGS.c.project == project) & BINDINGS.c.ensemble.in_(("", ensemble))
    mine = ((BINDINGS.c.kind == USER) & (BINDINGS.c.who == user)) | (
        (BINDINGS.c.kind == GROUP) & BINDINGS.c.who.in_(groups)
    )
    roles = set(connection.execute(select(BINDINGS.c.role).where(here & mine)).scalars())
    return bool(roles & set(wanted.roles))
