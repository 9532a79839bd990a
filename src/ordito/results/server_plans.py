"""Plans on a server: what was asked for, who approved it, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.planning.preview import Totals
from ordito.results.answer import Result, ResultData
from ordito.results.failure import Trouble
from ordito.results.findings import FindingData


class AuthorData(msgspec.Struct, frozen=True):
    """Who has asked: a user, a service account, a schedule, or a git source."""

    kind: str
    name: str


class WantedApprovals(msgspec.Struct, frozen=True):
    """Approvals that a rule asks for."""

    count: int
    roles: tuple[str, ...] = ()
    """Who has one of these roles may give one; without roles and groups, whoever may approve."""

    groups: tuple[str, ...] = ()
    author_may: bool = False
    """Whether the author's own counts."""

    given: int = 0
    """How many that count were given."""

    kept: bool = False
    """Whether the rule that asked for them is gone, and the plan needs them still: whoever changed the rules has asked
    for the plan as well."""


class ApprovalData(msgspec.Struct, frozen=True):
    """A decision about a plan."""

    who: str
    decision: str
    """``approve`` or ``reject``."""

    comment: str
    at: str


class ApprovalsData(msgspec.Struct, frozen=True):
    """The approvals that a plan needs, and those that it has."""

    wanted: tuple[WantedApprovals, ...] = ()
    given: tuple[ApprovalData, ...] = ()


class QueueData(msgspec.Struct, frozen=True):
    """Where a plan waits."""

    place: int
    """1 for the next one of its ensemble."""

    holder: str | None
    """Who works on the ensemble, null for nobody."""

    frozen: str | None
    """Why nothing begins now, null where nothing is frozen."""


class AskedPlan(Result, frozen=True, kw_only=True):
    """A plan on a server, from its request to its job."""

    id: str
    project: str
    ensemble: str
    workflow: str
    state: str
    by: AuthorData
    created: str
    changed: str
    """When it came into its state."""

    expires: str
    """When it is discarded if it has not begun."""

    apply: str
    """``ask``: somebody applies it; ``auto``: it goes on by itself."""

    bind: str
    """``exact``: these very steps are carried out, or none; ``latest``: it is planned anew when its turn comes."""

    comment: str
    digest: str
    """What approvals and applying are about, "" until it is made."""

    fresh: str
    """``fresh``: nothing has changed since it was made; ``moved``: a job has run since; ``stale``: what it depends on
    has changed; "" where that does not matter any more."""

    totals: Totals | None
    risks: tuple[str, ...]
    findings: tuple[FindingData, ...]
    approvals: ApprovalsData
    queue: QueueData | None
    applied_by: str
    """Who has applied it, "" for nobody."""

    job: str | None
    job_status: str
    """How its job ended, "" for not yet."""

    problem: Trouble | None
    allowed: tuple[str, ...]
    """What who asks may do with it."""


class PlanReport(Result, frozen=True):
    """How the job of a plan ended, for its command."""

    job: str
    report: Mapping[str, object]
    """The report of the job, as it is kept."""


class AskedPlansData(ResultData, frozen=True, tag="ordito.plans-list/1"):
    """Plans on a server, the newest first."""

    plans: tuple[AskedPlan, ...]


class RuleWhen(msgspec.Struct, frozen=True):
    """Which plans a rule is about: those that fit all that is said, by any of the names."""

    workflows: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()


class RuleBy(msgspec.Struct, frozen=True):
    """Whose approvals count: who has one of the roles, or is in one of the groups; else all who may approve."""

    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class RuleData(msgspec.Struct, frozen=True):
    """A rule: plans that it is about need approvals."""

    when: RuleWhen = RuleWhen()
    count: int = 1
    by: RuleBy = RuleBy()
    author_may: bool = False


class RulesData(Result, frozen=True):
    """The rules of a project, or of an ensemble."""

    rules: tuple[RuleData, ...]
