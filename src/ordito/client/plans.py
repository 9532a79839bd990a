"""Plans at a server: asked for, looked at, approved, applied, and followed to the end of their jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

import msgspec

from ordito.app.job.report import JobReport
from ordito.client.connection import LONG_PATIENCE, in_path
from ordito.client.errors import ServerError
from ordito.client.looks import RemoteEnsemble
from ordito.results.failure import Failure
from ordito.results.plan import NothingPlannedData, PlanData
from ordito.results.server_plans import AskedPlan, PlanReport

WAIT = 20
"""Seconds that one question waits for something new."""

PLANNING, EMPTY, READY, WAITING, QUEUED, STARTING, RUNNING = (
    "planning", "empty", "ready", "waiting", "queued", "starting", "running",
)  # fmt: skip
APPLIED, DISCARDED, REJECTED, STALE, REFUSED, FAULTY = (
    "applied", "discarded", "rejected", "stale", "refused", "faulty",
)  # fmt: skip
ASK, AUTO = "ask", "auto"

UNMADE = frozenset({REFUSED, FAULTY})


class _Page(msgspec.Struct):
    items: tuple[msgspec.Raw, ...]
    next: str


class _Asked(msgspec.Struct):
    job: str
    asked: str


def ask_plan(ensemble: RemoteEnsemble, wanted: Mapping[str, object]) -> AskedPlan:
    """Ask for a plan, and wait until it is made. Raises ``ServerError``."""
    # Where the job begins by itself, the answer would wait for its end, and nothing could be shown meanwhile.
    headers = {"Prefer": f"wait={WAIT}"} if wanted.get("apply") == ASK else {}
    answer = ensemble.connection.ask("POST", f"{ensemble.path}/plans", body=wanted, headers=headers)
    found = ensemble.connection.read(answer, AskedPlan)
    return after(ensemble, found, lambda plan: plan.state != PLANNING)


def make_ensemble(ensemble: RemoteEnsemble, package: str) -> None:
    """Make an ensemble of a package. Raises ``ServerError``."""
    body = {"name": ensemble.name, "package": package}
    ensemble.connection.ask("POST", f"/projects/{in_path(ensemble.project)}/ensembles", body=body)


def plan_named(ensemble: RemoteEnsemble, name: str, *, patience: float = LONG_PATIENCE) -> AskedPlan:
    """A plan as it is now. Raises ``ServerError``."""
    return ensemble.connection.get(f"{ensemble.path}/plans/{name}", AskedPlan, patience=patience)


def after(
    ensemble: RemoteEnsemble,
    plan: AskedPlan,
    is_reached: Callable[[AskedPlan], bool],
    seconds: float = float("inf"),
) -> AskedPlan:
    """The plan once it is as wanted, or as it is when the time is over. Raises ``ServerError``."""
    until, cursor = time.monotonic() + seconds, ""
    while not is_reached(plan):
        left = until - time.monotonic()
        if left <= 0:
            break
        topic = f"plan:{ensemble.project}/{ensemble.name}/{plan.id}"
        query: dict[str, object] = {"topic": topic, "wait": int(min(WAIT, left + 1)), "after": cursor or None}
        cursor = ensemble.connection.get("/events", _Page, query, patience=LONG_PATIENCE).next
        plan = plan_named(ensemble, plan.id)
    return plan


def shown_plan(ensemble: RemoteEnsemble, plan: AskedPlan) -> PlanData | NothingPlannedData:
    """What a plan does. Raises ``ServerError``."""
    path = f"{ensemble.path}/plans/{plan.id}/plan"
    plain = ensemble.connection.get(path, dict[str, object], patience=LONG_PATIENCE)
    return PlanData.read(plain) if "totals" in plain else msgspec.convert(plain, NothingPlannedData)


def apply_plan(ensemble: RemoteEnsemble, plan: AskedPlan) -> AskedPlan:
    """Have exactly this plan carried out. Raises ``ServerError``."""
    path = f"{ensemble.path}/plans/{plan.id}/apply"
    return ensemble.connection.do("POST", path, AskedPlan, {"digest": plan.digest}, patience=LONG_PATIENCE)


def discard_plan(ensemble: RemoteEnsemble, plan: str) -> AskedPlan:
    """Say that a plan is not wanted any more. Raises ``ServerError``."""
    return ensemble.connection.do("POST", f"{ensemble.path}/plans/{plan}/discard", AskedPlan)


def decide(ensemble: RemoteEnsemble, plan: AskedPlan, decision: str, comment: str) -> AskedPlan:
    """Approve or reject exactly this plan. Raises ``ServerError``."""
    body = {"decision": decision, "digest": plan.digest, "comment": comment}
    return ensemble.connection.do("POST", f"{ensemble.path}/plans/{plan.id}/approvals", AskedPlan, body)


def report_of(ensemble: RemoteEnsemble, plan: AskedPlan) -> JobReport:
    """How the job of a plan ended. Raises ``ServerError``."""
    path = f"{ensemble.path}/plans/{plan.id}/report"
    found = ensemble.connection.get(path, PlanReport, patience=LONG_PATIENCE)
    return msgspec.convert(found.report, JobReport)


def refuse_unmade(plan: AskedPlan) -> None:
    """Raise ``ServerError`` for a plan that could not be made, or that did not come to a job."""
    if plan.problem is not None:
        raise ServerError(plan.problem.failure, plan.problem.diagnostics)
    if plan.state == REJECTED:
        no = next((one for one in plan.approvals.given if one.decision == "reject"), None)
        said = f" by {no.who}{f': {no.comment}' if no.comment else ''}" if no is not None else ""
        raise ServerError(Failure("not-ready", f"the plan {plan.id} was rejected{said}; nothing was changed"))
    if plan.state == DISCARDED:
        raise ServerError(Failure("not-ready", f"the plan {plan.id} was discarded; nothing was changed"))
    if plan.state == STALE:
        hint = "give the command again: it is planned anew"
        raise ServerError(Failure("stale-plan", f"what the plan {plan.id} depends on has changed meanwhile", hint))
    if plan.state in UNMADE:
        raise ServerError(Failure("faulty-plan", f"the plan {plan.id} could not be made", "ask for it again"))


def cancel_job(ensemble: RemoteEnsemble, job: str, *, now: bool, patience: float = LONG_PATIENCE) -> tuple[str, str]:
    """Have a job end: its id, and ``cancel``, or ``close`` where nobody runs it. Raises ``ServerError``."""
    found = ensemble.connection.do(
        "POST", f"{ensemble.path}/jobs/{job}/cancel", _Asked, {"now": now}, patience=patience
    )
    return found.job, found.asked


def resume_job(ensemble: RemoteEnsemble, job: str) -> str:
    """Have an interrupted job go on: its id. Raises ``ServerError``."""
    return ensemble.connection.do("POST", f"{ensemble.path}/jobs/{job}/resume", _Asked, {}).job


def plans_of(ensemble: RemoteEnsemble, state: str) -> Iterator[AskedPlan]:
    """The plans of an ensemble, the newest first. Raises ``ServerError``."""
    return ensemble.connection.all(f"{ensemble.path}/plans", AskedPlan, {"state": state} if state else {})
