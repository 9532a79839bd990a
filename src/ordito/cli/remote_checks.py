"""`ordito check` and `discover` at a server: what it knows of the instances before and afterwards is compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from ordito.app.drift import AttributeDrift, CheckedInstance, DriftResult
from ordito.app.job.report import JobReport
from ordito.app.requests import LookRequest
from ordito.app.workflow_run import WorkflowRequest, WorkflowResult
from ordito.cli.conversation import CliConversation
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.ledger import Ledger
from ordito.cli.remote_jobs import carry_out
from ordito.cli.session import Session
from ordito.instances.records import Instance, StatusReason
from ordito.instances.status import OK
from ordito.results.status import STATUS, InstanceData, StatusAsked

Instances = Mapping[str, InstanceData]


def look_there(session: Session, request: WorkflowRequest, end: Callable[[DriftResult, Ledger], ExitCode]) -> ExitCode:
    """Have instances checked, and hand over what was found with all that was told meanwhile."""
    before = session.ask(STATUS, StatusAsked(all=True)).instances

    def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
        looked = conversation.ledger.accounts if result.report is not None else ()
        after = session.ask(STATUS, StatusAsked(all=True)).instances
        unlooked = tuple(_unlooked(before, looked, request))
        unwell = tuple(name for name in unlooked if before[name].local != OK)
        found = tuple(_found(looked, before, after, result.report))
        return end(DriftResult(found, unlooked, result.report, unwell), conversation.ledger)

    return carry_out(session, request, finish, asks=False)


def _unlooked(before: Instances, looked: Collection[str], request: WorkflowRequest) -> Iterator[str]:
    wanted = request.wanted
    assert isinstance(wanted, LookRequest)
    names = {name.partition(":")[2] or name for name in wanted.names}
    for name, one in before.items():
        if one.counts and name not in looked and (not names or names & {name, one.node}):
            yield name


def _found(
    looked: Iterable[str], before: Instances, after: Instances, report: JobReport | None
) -> Iterator[CheckedInstance]:
    failed = report.failures if report is not None else ()
    failures = {one.instance: one.outcome.message or str(one.outcome.ending) for one in failed}
    for name in looked:
        if name in before and name in after:
            old, new = before[name], after[name]
            yield CheckedInstance(
                _record(name, old), _record(name, new), _changed(old.attributes, new.attributes), failures.get(name, "")
            )


def _record(name: str, found: InstanceData) -> Instance:
    """As much of the record of an instance as is told of it."""
    reason = StatusReason(found.status_reason) if found.status_reason else StatusReason.NONE
    return Instance(name, found.node, 0, host=found.host, state=found.state, local=found.local, status_reason=reason)


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, AttributeDrift]:
    names = [n for n in {**before, **after} if n not in before or n not in after or before[n] != after[n]]
    return {name: AttributeDrift(before.get(name), after.get(name)) for name in names}
