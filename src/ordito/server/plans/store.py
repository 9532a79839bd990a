"""Plans in the database: how they are asked for, moved from state to state, and shown."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from cryptography.fernet import Fernet
from sqlalchemy import Connection, Row, delete, func, insert, select, update

from ordito.app.plan_basis import ExactPlan
from ordito.app.work_items import AskedRequest
from ordito.ensemble.job_format import moment
from ordito.planning.preview import Totals
from ordito.results.failure import Trouble
from ordito.results.findings import FindingData
from ordito.results.server_plans import ApprovalData, ApprovalsData, AuthorData, WantedApprovals
from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.database.tables import APPROVALS, FREEZES, PLANS, SCHEDULES, SOURCES
from ordito.server.identity.principal import ACCOUNT, is_user
from ordito.server.names import Text
from ordito.server.packages import package_named
from ordito.server.plans.asked import ASKED, AskedOptions, job_options, kind_of, request_of
from ordito.server.plans.freshness import PlanMarks
from ordito.server.plans.rules import counted
from ordito.server.plans.states import ACTIVE, MOVES, OPEN, PlanState
from ordito.server.problems import ApiProblem
from ordito.server.route import Fields
from ordito.work.options import JobOptions

MOST_OF_ENSEMBLE, MOST_OF_AUTHOR = 50, 100
"""How many plans may be open at a time."""

KEPT_FOR = 7 * 24 * 3600.0
"""Seconds after which a plan that has not begun is discarded."""

FILES_KEPT_FOR = 30 * 24 * 3600.0
"""Seconds for which the files of plans are kept after these have ended."""

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class PlanWanted(Fields, frozen=True, kw_only=True):
    """What is asked for."""

    request: ASKED
    """The request, by its ``workflow``."""

    environment: Text | None = None
    """The environment, null for the one that the ensemble is in."""

    options: AskedOptions = AskedOptions()
    apply: Literal["ask", "auto"] = "ask"
    """``ask`` to stop when the plan is made, ``auto`` to carry it out without another question."""

    bind: Literal["exact", "latest"] = "exact"
    """``exact`` to carry out the very steps of the plan or none, ``latest`` to plan anew when its turn comes."""

    comment: Annotated[str, msgspec.Meta(max_length=4_000)] = ""


class StoredRequest(msgspec.Struct, frozen=True):
    """What is kept of a request, sealed."""

    asked: AskedRequest
    options: JobOptions
    package: str = ""
    """The digest of the package that is to be deployed, "" for what the ensemble is made of."""


class PlanAbout(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a plan that was made."""

    totals: Totals = Totals()
    risks: tuple[str, ...] = ()
    findings: tuple[FindingData, ...] = ()
    exact: ExactPlan | None = None
    environment: str = ""
    marks: PlanMarks = PlanMarks()
    """What the ensemble was like when it was made."""

    can_be_saved: bool = False
    workflow: str = ""
    """What it is a plan of: for `retry` and `skip`, what the job was that they continue."""


class Author(msgspec.Struct, frozen=True):
    """Who asks for a plan: the kind of a principal, and its id."""

    kind: str
    id: str
    made_by: str = ""
    """The user behind it: who made the token of an account, the schedule or the source; "" for a user."""

    @property
    def shown(self) -> str:
        """The author in records of jobs: users by their name."""
        return self.id if self.kind == "user" else f"{self.kind} {self.id}"


def new_plan_id(now: float) -> str:
    """An id that sorts by time (a ULID)."""
    number = (int(now * 1000) << 80) | secrets.randbits(80)
    digits = []
    for _ in range(26):
        number, digit = divmod(number, 32)
        digits.append(ALPHABET[digit])
    return "pl_" + "".join(reversed(digits))


def ask_plan(
    connection: Connection,
    sealer: Fernet,
    author: Author,
    of: tuple[str, str],
    wanted: PlanWanted,
    now: float,
) -> str:
    """Keep what somebody asks of an ensemble, which is named by its project and its name; returns the id of the plan.
    Raises ``ApiProblem``."""
    project, ensemble = of
    _check_counts(connection, author, project, ensemble)
    asked = request_of(wanted.request, wanted.environment)
    named = getattr(wanted.request, "package", "")
    package = package_named(connection, project, named) if named else ""
    request = StoredRequest(asked, job_options(wanted.options), package)
    made = new_plan_id(now)
    row = {
        "id": made,
        "project": project,
        "ensemble": ensemble,
        "kind": author.kind,
        "who": author.id,
        "made_by": author.made_by,
        "workflow": kind_of(wanted.request),
        "request": sealer.encrypt(msgspec.msgpack.encode(request)),
        "comment": wanted.comment,
        "apply": wanted.apply,
        "bind": wanted.bind,
        "state": PlanState.PLANNING,
        "expires": now + KEPT_FOR,
    }
    nothing = dict.fromkeys(("digest", "about", "wanted", "problem", "applied", "job", "job_status"), "")
    connection.execute(insert(PLANS).values(**nothing, **row, attempts=0, created=now, changed=now, queued=0.0))
    _told(connection, project, ensemble, made, PlanState.PLANNING, "", now)
    return made


def _check_counts(connection: Connection, author: Author, project: str, ensemble: str) -> None:
    is_open = PLANS.c.state.in_(OPEN)
    here = (PLANS.c.project == project) & (PLANS.c.ensemble == ensemble) & is_open
    mine = (PLANS.c.kind == author.kind) & (PLANS.c.who == author.id) & is_open
    for condition, most, whose in ((here, MOST_OF_ENSEMBLE, "this ensemble has"), (mine, MOST_OF_AUTHOR, "you have")):
        count = connection.execute(select(func.count()).select_from(PLANS).where(condition)).scalar()
        if (count or 0) >= most:
            raise ApiProblem(
                "too-many", f"{whose} {count} plans that have not ended", "discard some of them first", again_in=60
            )


def plan_row(connection: Connection, of: tuple[str, str], name: str) -> Row[Any]:
    """The row of a plan of an ensemble. Raises ``ApiProblem``."""
    mine = (PLANS.c.id == name) & (PLANS.c.project == of[0]) & (PLANS.c.ensemble == of[1])
    found = connection.execute(select(PLANS).where(mine)).one_or_none()
    if found is None:
        raise ApiProblem(
            "unknown-plan", f'there is no plan "{name[:40]}" of this ensemble', "the list of plans has them"
        )
    return found


def move(connection: Connection, plan: str, to: PlanState, now: float, **values: object) -> bool:
    """Bring a plan into another state, and tell of it; False where it cannot go there from where it is, because
    somebody else was first."""
    row = connection.execute(select(PLANS).where(PLANS.c.id == plan)).one_or_none()
    if row is None or to not in MOVES.get(PlanState(row.state), ()):
        return False
    connection.execute(update(PLANS).where(PLANS.c.id == plan).values(state=to, changed=now, **values))
    job = str(values.get("job", row.job))
    _told(connection, row.project, row.ensemble, plan, to, job, now)
    if PlanState.QUEUED in (to, PlanState(row.state)):
        _tell_queue(connection, row.project, row.ensemble, now)
    return True


def _tell_queue(connection: Connection, project: str, ensemble: str, now: float) -> None:
    """Tell that another plan waits for its turn, or one fewer."""
    here = (PLANS.c.project == project) & (PLANS.c.ensemble == ensemble) & (PLANS.c.state == PlanState.QUEUED)
    count = connection.execute(select(func.count()).select_from(PLANS).where(here)).scalar() or 0
    tell(
        connection,
        ServerEvent(f"ensemble:{project}/{ensemble}", "queue.changed", project, ensemble, {"queued": count}),
        now,
    )


HEARD = {
    PlanState.WAITING: "plan.waiting",
    PlanState.REJECTED: "plan.rejected",
    PlanState.STALE: "plan.stale",
    PlanState.RUNNING: "job.began",
    PlanState.APPLIED: "job.ended",
}
"""What the ensemble tells of when a plan comes into a state."""


def _told(
    connection: Connection, project: str, ensemble: str, plan: str, state: PlanState, job: str, now: float
) -> None:
    fields = {"plan": plan, "state": str(state), "job": job or None}
    tell(connection, ServerEvent(f"plan:{plan}", "plan.changed", project, ensemble, fields), now)
    if state in HEARD:
        tell(connection, ServerEvent(f"ensemble:{project}/{ensemble}", HEARD[state], project, ensemble, fields), now)


def active_plans(connection: Connection) -> Sequence[Row[Any]]:
    """The plans with which the server has something to do, the oldest first."""
    return connection.execute(select(PLANS).where(PLANS.c.state.in_(ACTIVE)).order_by(PLANS.c.queued, PLANS.c.id)).all()


def expired_plans(connection: Connection, now: float) -> Sequence[str]:
    """The plans that have waited for too long."""
    old = PLANS.c.state.in_((PlanState.READY, PlanState.WAITING, PlanState.QUEUED)) & (PLANS.c.expires < now)
    return connection.execute(select(PLANS.c.id).where(old)).scalars().all()


def old_plans(connection: Connection, now: float) -> Sequence[str]:
    """The plans that ended so long ago that their files are not kept; what was asked and decided stays."""
    is_over = PLANS.c.state.not_in(OPEN) & PLANS.c.changed.between(now - 2 * FILES_KEPT_FOR, now - FILES_KEPT_FOR)
    return connection.execute(select(PLANS.c.id).where(is_over)).scalars().all()


def stored_request(row: Row[Any], sealer: Fernet) -> StoredRequest:
    """What was asked for."""
    return msgspec.msgpack.decode(sealer.decrypt(row.request), type=StoredRequest)


def about(row: Row[Any]) -> PlanAbout:
    """What is known of a plan that was made."""
    return msgspec.json.decode(row.about, type=PlanAbout) if row.about else PlanAbout()


def problem(row: Row[Any]) -> Trouble | None:
    """Why it was not made, or not carried out."""
    return msgspec.json.decode(row.problem, type=Trouble) if row.problem else None


# ----------------------------------------------------------------------------------------------------------- approvals


def answering(connection: Connection, row: Row[Any], who: str) -> str:
    """The id of the principal who answers for what ``who`` does with a plan: for what schedules and git sources ask,
    whoever has made them."""
    if row.kind not in (SCHEDULE, SOURCE):
        return who
    here = (row.project, row.ensemble)
    if row.kind == SOURCE:
        mine = (SOURCES.c.project == here[0]) & (SOURCES.c.ensemble == here[1])
        return connection.execute(select(SOURCES.c.who).where(mine)).scalar() or ""
    mine = (SCHEDULES.c.project == here[0]) & (SCHEDULES.c.ensemble == here[1])
    named = mine & (SCHEDULES.c.name == row.who.rpartition("/")[2])
    return connection.execute(select(SCHEDULES.c.who).where(named)).scalar() or ""


def people_behind(connection: Connection, row: Row[Any]) -> frozenset[str] | None:
    """The ids of those for whom a plan is one of their own: who answers for it now, and the user who was behind it when
    it was asked for. None where no user is known who was, as for a token of an account that an earlier version has
    made: then it may be anybody's."""
    now = answering(connection, row, row.who)
    user = row.made_by or ("" if row.kind == ACCOUNT else now)
    return frozenset({now, row.made_by} - {""}) if is_user(user) else None


SCHEDULE, SOURCE = "schedule", "git"
"""The kinds of authors that act for somebody."""


def wanted_before(row: Row[Any]) -> tuple[WantedApprovals, ...]:
    """The approvals that a plan needs, as they are kept with it."""
    return msgspec.json.decode(row.wanted, type=tuple[WantedApprovals, ...]) if row.wanted else ()


def approvals(connection: Connection, row: Row[Any]) -> ApprovalsData:
    """The approvals that a plan needs, and those that it has."""
    given = tuple(
        ApprovalData(one.who, one.decision, one.comment, moment(one.created))
        for one in connection.execute(
            select(APPROVALS)
            .where((APPROVALS.c.plan == row.id) & (APPROVALS.c.digest == row.digest))
            .order_by(APPROVALS.c.created)
        )
    )
    wanted = wanted_before(row)
    behind = people_behind(connection, row)
    found = []
    for one in wanted:
        others = () if behind is None else tuple(a for a in given if a.who not in behind)
        fitting = given if one.author_may else others
        found.append(msgspec.structs.replace(one, given=counted(connection, row.project, row.ensemble, one, fitting)))
    return ApprovalsData(tuple(found), given)


def is_approved(found: ApprovalsData) -> bool:
    """Whether all approvals that are needed are there."""
    return all(one.given >= one.count for one in found.wanted)


# -------------------------------------------------------------------------------------------------------------- freeze


def frozen_by(connection: Connection, project: str, ensemble: str, now: float) -> str | None:
    """Why nothing of an ensemble may begin now; None where it may."""
    here = (
        ((FREEZES.c.project == "") & (FREEZES.c.ensemble == ""))
        | ((FREEZES.c.project == project) & (FREEZES.c.ensemble == ""))
        | ((FREEZES.c.project == project) & (FREEZES.c.ensemble == ensemble))
    )
    lasts = (FREEZES.c.until == 0.0) | (FREEZES.c.until > now)
    row = connection.execute(select(FREEZES).where(here & lasts).order_by(FREEZES.c.project).limit(1)).one_or_none()
    return f"{row.reason} (by {row.who})" if row is not None else None


def forget_freezes(connection: Connection, now: float) -> None:
    """Forget the freezes that are over."""
    connection.execute(delete(FREEZES).where((FREEZES.c.until != 0.0) & (FREEZES.c.until < now)))


def author_of(row: Row[Any]) -> AuthorData:
    """Who has asked for a plan."""
    return AuthorData(row.kind, row.who)
