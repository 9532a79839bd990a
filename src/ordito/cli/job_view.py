"""The end of a job for people and for programs, and its exit code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ordito.base.sensitive import shown
from ordito.base.text import listed
from ordito.base.text_width import width
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.ledger import Ledger, title
from ordito.cli.progress.lines import failure
from ordito.cli.progress.report import (
    OUT_OF_REACH,
    NextCommand,
    Summary,
    completed,
    write_failures,
    write_recap,
    write_summary,
)
from ordito.cli.session import Session
from ordito.cli.text_width import pad, printable
from ordito.work.plan import Change, ChangeCause
from ordito.work.records import ROLLED_BACK
from ordito.work.workflows import DEPLOY, UPGRADE, workflow_of

if TYPE_CHECKING:
    from ordito.app.job.report import JobReport
    from ordito.app.proposal import Proposal
    from ordito.ensemble.keeping import KeptCommits
    from ordito.results.jobs import ReplayData
    from ordito.results.records import EditData


MOST_NAMED = 12

SETTLE = "ordito.settle"
"""The operation that fails if an instance is not ok and nothing is left to do about it."""

OF_HOSTS = frozenset({"delegate.reach", SETTLE})
"""The operations that end as unreachable because their instance is a host that cannot be reached."""


def write_report(report: JobReport, ledger: Ledger, session: Session) -> None:
    """Write failures, counts, and one sentence; nothing with ``--json``, whose events contain all of it."""
    channel = session.err
    warn_of_kept(report.files.kept, session)
    if session.stream is not None:
        return
    write_failures([completed(failed, session.settings) for failed in report.failures], channel)
    _write_left(ledger, session)
    if not session.settings.quiet:
        write_recap(ledger, channel)
    if not session.settings.quiet or report.status != "ok":
        write_summary(_summary(report), channel)
    if report.status == "degraded":
        _write_warnings(report, session)
    if report.files.kept.own and not session.settings.quiet:
        channel.line(channel.paint("faint", f"Committed: {commits(report.files.kept)}"))
    others = [failed for failed in report.failures if failed.hook is None]
    # What a healing does not find out, or repair in place, it makes again itself.
    heals = workflow_of(report.workflow).heals
    if report.status == "degraded" and not heals and report.counts.failed and (others or not report.failures):
        again = "the next deployment tries it again" if report.after.lacks else "later operations have repaired it"
        session.warn(f"what failed is optional: the rest is done, and {again}")
    if report.causes.handled:
        channel.line("The failure was handled: the steps that the workflow has for it (on_failure) succeeded.")
    _write_gone(report, session)
    _write_taken_back(report, session)
    if report.files.crashes:
        channel.line(f"A fault of Ordito itself is among the failures; the details are in {report.files.crashes}")
    if report.files.untold:
        session.warn(f"the events of this job are not all in its file: {report.files.untold}")
    _warn_of_changed_files(report, session)
    _warn_of_hooks(report, session)


def _warn_of_changed_files(report: JobReport, session: Session) -> None:
    """Warn that operations have changed files from which later operations run."""
    if report.files.changed:
        session.warn(
            f"deployed files were changed while the job ran: {listed(report.files.changed, MOST_NAMED)};"
            " operations may write to their copies of artifacts, but to nothing else of the service"
        )
        words, purpose = ("state", "renew"), "put back what was deployed"
        session.next(NextCommand(session.settings.command(*words), purpose))


def _warn_of_hooks(report: JobReport, session: Session) -> None:
    """Warn, last of all, of each lifecycle step that has failed and is allowed to fail."""
    for failed in report.failures:
        hook = failed.hook
        if hook is not None and failed.optional:
            of = hook.component or "the module"
            why = printable(failure(failed.outcome))
            session.warn(f"lifecycle step {hook.id} ({hook.phase} of {of}) failed: {why}; the job went on without it")


def _write_left(ledger: Ledger, session: Session) -> None:
    for instance, left in list(ledger.left.items())[:MOST_NAMED]:
        session.warn(f"{instance} was given up: {printable(left)}")
    if len(ledger.left) > MOST_NAMED:
        command = session.settings.command("hosts", "list")
        session.warn(f"so were {len(ledger.left) - MOST_NAMED} more; {command} shows which hosts are lost")


def _write_gone(report: JobReport, session: Session) -> None:
    """Warn that what could not be stopped, but was removed, may still run."""
    for failed in report.causes.gone[:MOST_NAMED]:
        what = f"{failed.instance} was removed although its stop failed ({printable(failure(failed.outcome))})"
        session.warn(f"{what}: check whether something of it still runs")
    if len(report.causes.gone) > MOST_NAMED:
        command = session.settings.command("jobs", "show", report.job)
        session.warn(f"so were {len(report.causes.gone) - MOST_NAMED} more: {command}")


def _summary(report: JobReport) -> Summary:
    return Summary(
        report.job,
        report.workflow,
        report.status,
        report.seconds,
        report.counts.succeeded,
        report.counts.no_op,
        report.counts.failed,
        report.counts.skipped,
        sum(map(len, report.warnings.values())),
    )


def _write_warnings(report: JobReport, session: Session) -> None:
    """Repeat the warnings that have scrolled by, if the job is not ok because of them."""
    told = [(step, text) for step, texts in report.warnings.items() for text in texts]
    for step, text in told[:MOST_NAMED]:
        session.warn(printable(f"{_shown(step)}: {text}"))
    if len(told) > MOST_NAMED:
        command = session.settings.command("jobs", "show", report.job)
        session.warn(f"and {len(told) - MOST_NAMED} more: {command}")


def _shown(step: str) -> str:
    """The name of a step in progress output, by its id."""
    instance, *operation = step.rsplit(".", 2)
    return f"{instance} {title('.'.join(operation))}" if operation else instance


def _write_taken_back(report: JobReport, session: Session) -> None:
    """Say what was rolled back of a job that did not complete, and what was not."""
    if report.causes.stands:
        named = printable(listed(report.causes.stands, MOST_NAMED))
        session.err.line(f"Lifecycle steps that were carried out and not undone: {named}")
    if report.rollback.outcome:
        _write_rollback(report, session)


def _write_rollback(report: JobReport, session: Session) -> None:
    if report.rollback.outcome == ROLLED_BACK:
        session.err.line(
            "What it did was rolled back, except for this:"
            if report.rollback.again
            else "Everything that it did was rolled back."
        )
        _write_again(report, session)
        return
    session.err.line("It was rolled back, and this remains:")
    for what in report.rollback.remains[:MOST_NAMED]:
        session.err.line(f"  {printable(what)}")
    if len(report.rollback.remains) > MOST_NAMED:
        command = session.settings.command("jobs", "show", report.job)
        session.err.line(f"  and {len(report.rollback.remains) - MOST_NAMED} more: {command}")
    _write_again(report, session)


UNLESS = "unless undoing a lifecycle step has restored it"


def _write_again(report: JobReport, session: Session) -> None:
    """Say which instances were created again: their data went when they were removed."""
    if report.rollback.again:
        named, single = listed(report.rollback.again, MOST_NAMED), len(report.rollback.again) == 1
        made, held = ("was", "its") if single else ("were", "their")
        session.err.line(f"  {printable(named)} {made} created again, and {held} data is lost, {UNLESS}")


def end_job(report: JobReport | None, ledger: Ledger, session: Session, *, nothing: str) -> ExitCode:
    """Report the end of a job that a verb has continued; ``nothing`` is said if there was no job."""
    from ordito.results.jobs import NoJobData

    if report is None:
        session.note(nothing)
        session.show(NoJobData())
        return ExitCode.DONE
    write_report(report, ledger, session)
    show_end(report, session, with_outputs=workflow_of(report.workflow).forms)
    suggest(report, session)
    return exit_code(report)


def show_end(report: JobReport, session: Session, *, with_outputs: bool = True, **more: object) -> None:
    """Show the result of a job, with ``more`` fields; to people it is its outputs."""
    from ordito.results.jobs import JobEndData, job_end_data

    is_complete = exit_code(report) is ExitCode.DONE

    def write(found: JobEndData, channel: Channel) -> None:
        write_outputs(found.outputs if with_outputs else {}, channel, complete=is_complete)

    session.show(msgspec.structs.replace(job_end_data(report), **more), write)


def exit_code(report: JobReport) -> ExitCode:
    """The exit code for a job's end."""
    if report.rollback.outcome and workflow_of(report.workflow).scales:
        # To remove what it has added is what a scale-out does by itself: it has failed, and no more is to be said.
        return ExitCode.JOB_FAILED
    if report.rollback.outcome:
        return ExitCode.ROLLED_BACK if report.rollback.outcome == ROLLED_BACK else ExitCode.ROLLBACK_INCOMPLETE
    if report.status == "cancelled":
        return ExitCode.TIMED_OUT if report.causes.timed_out else ExitCode.INTERRUPTED
    if report.status in {"ok", "degraded"}:
        return ExitCode.DONE
    unreachable = [failed.outcome.ending in OUT_OF_REACH for failed in report.failures]
    return ExitCode.UNREACHABLE if unreachable and all(unreachable) else ExitCode.JOB_FAILED


def suggest(report: JobReport, session: Session) -> None:
    """Propose the commands that help after a job that failed."""
    if exit_code(report) is ExitCode.DONE:
        return
    command = session.settings.command
    commands = [NextCommand(command("jobs", "logs", report.job), "read all that the operations printed")]
    workflow = workflow_of(report.workflow)
    is_over = report.causes.timed_out and not report.written and not report.rollback.outcome
    if is_over and workflow.continues and not workflow.scales:
        commands.append(NextCommand(command("jobs", "retry"), "do what was left undone when the time was over"))
    commands += [NextCommand(command(*words), purpose) for words, purpose in _about_hosts(report)]
    commands += [NextCommand(command(*words), purpose) for words, purpose in _next(report, session)]
    session.next(*commands)


def check_locked(locked: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    """The words of the command to give if hosts refuse the login, or cannot be reached and no others are free, and its
    purpose. ``locked`` gives for each host where its key or password is written."""
    names, places = list(locked), list(dict.fromkeys(locked.values()))
    where = listed(places, 3)
    what = "the host, or its key or password" if len(names) == 1 else "the hosts, or the keys or passwords for them"
    is_right, them = ("is corrected", "it lets") if len(names) == 1 else ("are corrected", "they let")
    return (
        ("hosts", "check", *(names if len(names) <= MOST_NAMED else ())),
        f"once {what} in {where}, {is_right}: check that {them} you in",
    )


def _about_hosts(report: JobReport) -> Iterator[tuple[tuple[str, ...], str]]:
    """The words of commands that help if hosts could not be reached, each with its purpose. Replacing a host that
    refuses the login is not proposed: what runs there would go on running."""
    if report.causes.locked:
        yield check_locked(report.causes.locked)
    away = [failed for failed in report.failures if failed.outcome.ending in OUT_OF_REACH]
    if any(not failed.outcome.refused for failed in away) or (away and not report.causes.locked):
        yield ("hosts", "check"), "see which hosts of the inventory can be reached"
    away = [failed for failed in away if not failed.outcome.refused]
    hosts = dict.fromkeys(failed.instance for failed in away if failed.operation in OF_HOSTS)
    if hosts and not report.rollback.outcome:
        yield ("heal", *hosts), "if a host stays unreachable: have its provider replace it"


def _next(report: JobReport, session: Session) -> Iterator[tuple[tuple[str, ...], str]]:
    """The words of commands that help after a workflow that failed, each with its purpose."""
    workflow = workflow_of(report.workflow)
    if report.written:
        again = (("jobs", "retry"), "continue: what succeeded is not done again")
        yield from ([] if report.rollback.outcome else [again])
        yield ("status",), "see how everything is now"
    elif not workflow.applies:
        yield ("status",), "see how everything is now"
    elif not workflow.continues:
        yield ("status",), f"see the result of the {report.workflow}, and give the command again"
    elif not workflow.removes:
        yield from _after_making(report, session)
    elif report.after.left:
        yield ("undeploy",), "try again to remove what is left, with the scripts as deployed last"
        yield ("status",), "see what is left"
    else:
        yield ("status", "--all"), "see that no instance is left"


def _after_upgrading(report: JobReport, session: Session) -> Iterator[tuple[tuple[str, ...], str]]:
    if report.after.is_untouched and not report.rollback.outcome:
        # Of what is new nothing is known to the ensemble yet, so that the same command without it means the old.
        yield ("jobs", "retry"), f"continue: {'no instance' if report.causes.stands else 'nothing'} was changed so far"
        yield from _back(report, session) if report.causes.stands else ()
    elif report.rollback.outcome != ROLLED_BACK:
        yield ("upgrade", *report.given), "continue: only what is still different is changed"
        yield from _back(report, session)
    else:
        yield ("diff",), "check that what runs is what ran before"


def _back(report: JobReport, session: Session) -> Iterator[tuple[tuple[str, ...], str]]:
    undone = f", and undo {listed(report.causes.stands, MOST_NAMED)}" if report.causes.stands else ""
    if revision := _led_back_to(session):
        yield ("rollback",), f"go back to revision {revision}{undone}"


def _led_back_to(session: Session) -> int:
    """The revision to which a rollback leads now, 0 for none."""
    if session.settings.wanted_server:
        from ordito.results.answer import Asked
        from ordito.results.status import REVISIONS

        return session.ask(REVISIONS, Asked()).back
    from ordito.app.rollback_target import led_back_to

    return led_back_to(session.settings.directory)


def _unmended(report: JobReport) -> Iterator[tuple[tuple[str, ...], str]]:
    """What repairs instances that are not ok although everything was carried out. The same command would fail again."""
    found = [f for f in report.failures if f.operation == SETTLE and f.outcome.ending not in OUT_OF_REACH]
    if found and not report.rollback.outcome:
        instances = list(dict.fromkeys(failed.instance for failed in found))
        yield ("heal", *instances[:MOST_NAMED]), "repair what nothing else repairs, before you continue"


def _after_making(report: JobReport, session: Session) -> Iterator[tuple[tuple[str, ...], str]]:
    """The same for workflows that create or change instances."""
    yield from _unmended(report)
    if report.workflow == DEPLOY:
        yield ("deploy", *report.given), "continue: what is done is not done again"
        yield from _back(report, session) if report.causes.stands else ()
        if report.after.left:
            yield ("undeploy",), "remove everything, also what is incomplete"
        return
    if report.workflow == UPGRADE:
        yield from _after_upgrading(report, session)
    elif workflow_of(report.workflow).goes_back:
        yield ("jobs", "retry"), "continue the rollback"
    elif not report.rollback.outcome:
        if report.counts.skipped or len(report.causes.gone) < len(report.failures) or not report.failures:
            yield ("jobs", "retry"), "do what it has left undone"
    elif report.rollback.outcome != ROLLED_BACK:
        yield ("deploy", *report.given), "remove what is left of it"
    yield ("status",), "see how everything is now"


def suggest_looking(proposal: Proposal, session: Session) -> None:
    """Propose the commands that check whether what runs matches the records."""
    from ordito.work.probes import CHECK, maintaining

    nodes = {record.node for record in proposal.snapshot.instances.values() if record.exists}
    there = (node for name, node in proposal.source.whole.service.nodes.items() if name in nodes)
    if all(maintaining(node, CHECK) is None for node in there):
        return
    command = session.settings.command
    session.next(
        NextCommand(command("check"), "check what runs"),
        NextCommand(command("deploy", "--check"), "check, and repair what is not ok"),
    )


def warn_of_changed_inputs(names: Sequence[str], session: Session) -> None:
    """Say why nothing is done about inputs with new values."""
    session.warn(
        f"these inputs changed, but no operation depends on them: {', '.join(names)}; "
        "outputs keep their values until something is deployed"
    )


def warn_of_orphans(instances: Sequence[str], session: Session) -> None:
    """Warn about instances that are kept because nothing says how to remove them, and propose what to do."""
    named = listed(instances, MOST_NAMED)
    session.warn(f"kept, because their nodes are not in the deployed service: {named}")
    session.next(
        NextCommand(session.settings.command("deploy"), "once their nodes are in the service again; then undeploy"),
        NextCommand(session.settings.command("status"), "see what is kept"),
    )


def show_kept(kept: Sequence[Change], session: Session) -> None:
    """Say what undeploying has kept, and how to remove it too."""
    if not kept or session.stream is not None:
        return
    from ordito.cli.plan_view import write_kept

    write_kept(kept, session.err)
    words = ["--include-protected"] if any(c.cause is ChangeCause.PROTECTED for c in kept) else []
    words += ["--include-unmanaged"] if any(c.cause is ChangeCause.UNMANAGED for c in kept) else []
    session.next(NextCommand(session.settings.command("undeploy", *words), "remove these too"))


def write_outputs(outputs: Mapping[str, object], channel: Channel, *, complete: bool = True) -> None:
    """Write outputs by name, one per line; marked if the deployment is not ``complete``, as after a failure."""
    if outputs and not complete:
        channel.line("Outputs, valid once everything is deployed:")
    longest = max(map(width, outputs), default=0)
    for name, value in outputs.items():
        shown = channel.paint("faint", "(no value)") if value is None else printable(as_text(value))
        channel.line(f"{pad(name, longest)} = {shown}")


def as_text(value: object) -> str:
    """A value for people and shells: texts unchanged, lists and maps as JSON. Sensitive values are not shown."""
    value = shown(value)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return msgspec.json.encode(value).decode()


# What came of the files of a job in git, for people and for programs.


def warn_of_kept(kept: KeptCommits, session: Session) -> None:
    """Warn about what is not committed or not pushed, with the reason."""
    for problem in kept.problems:
        session.warn(f"not committed: {problem}")
    if kept.sharing:
        session.warn(kept.sharing)


def commits(kept: KeptCommits) -> str:
    """The commit with the files of a job, and those with the files from which it was made; shortened as in git."""
    made_from = ", ".join(f"{commit[:12]} ({tree})" for tree, commit in kept.commits.items())
    return f"{kept.own[:12]} (this ensemble)" + (f"; made from {made_from}" if made_from else "")


def write_kept(found: EditData | ReplayData, session: Session) -> None:
    """Show the commits of the files that a change has written, and warn about what is not committed."""
    from ordito.ensemble.keeping import KeptCommits

    kept = KeptCommits(found.commits or {}, found.not_committed or (), found.commit or "", found.not_shared or "")
    warn_of_kept(kept, session)
    if kept.own:
        session.note(f"Committed: {commits(kept)}")
