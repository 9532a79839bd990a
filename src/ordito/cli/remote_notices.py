"""`ordito notify` at a server: the notice is kept there, and what is done about it is followed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.gathered import sendable
from ordito.app.job.report import JobReport
from ordito.app.notices.handling import NOTHING_TO_DO, REFUSED
from ordito.app.requests import GivenInputs
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.cli.conversation import LookingConversation
from ordito.cli.exit_codes import ExitCode
from ordito.cli.handling_view import notified, say_ended, say_kept, say_received
from ordito.cli.remote import ensemble_of
from ordito.cli.remote_jobs import follow_job
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.client.asked import asked_options
from ordito.client.changes import do
from ordito.client.connection import LONG_PATIENCE
from ordito.client.jobs import is_interrupted
from ordito.client.looks import RemoteEnsemble
from ordito.ensemble.inbox import HANDLED
from ordito.results.answer import Asked
from ordito.results.given import NOTICES, NOTIFY, NoticeAsked
from ordito.results.jobs import JOBS, job_end_data
from ordito.results.policies import NoticeData, NotifyData
from ordito.results.status import STATUS, StatusAsked
from ordito.work.options import JobOptions

FIRST_PAUSE, LONGEST_PAUSE = 0.02, 0.5
PATIENCE = 1.0
"""Seconds after which a notice that nobody has begun to handle is said to wait, where somebody works on the
ensemble."""


def notify_there(
    session: Session, about: str, event: str, inputs: GivenInputs, options: JobOptions, wait_lock: float
) -> ExitCode:
    """Report that something has happened, and follow what triggers make of it."""
    ensemble, diagnostics = ensemble_of(session.settings, session.verb), Diagnostics()
    values, texts = sendable(inputs, diagnostics)
    if diagnostics.errors:
        raise InvalidDocument(diagnostics)
    asked = NoticeAsked(about, event, values, texts)
    if asked_options(options):
        hint = "leave them out; another job of the same kind can be begun by its own command"
        raise Refused("local-only", "how the jobs of triggers run is not for servers", hint)
    stored = do(ensemble, NOTIFY, asked)
    entry, reports = _followed(session, ensemble, stored.number, wait_lock)
    known = msgspec.structs.asdict(entry) if entry is not None else {"number": stored.number}
    found = NotifyData(
        **known,
        handled=entry is None or entry.state == HANDLED,
        waiting=sum(one.state != HANDLED for one in ensemble.ask(NOTICES, Asked()).notices),
        jobs=tuple(map(job_end_data, reports)),
        refused=sum(one.said.startswith(REFUSED) for one in entry.triggers) if entry is not None else 0,
    )
    session.show(found)
    return notified(found)


def _followed(
    session: Session, ensemble: RemoteEnsemble, number: int, wait_lock: float
) -> tuple[NoticeData | None, list[JobReport]]:
    """The notice once it is handled, or as it is when it has to wait for somebody; and how the jobs that it has caused
    ended."""
    told, reports = "", list[JobReport]()
    until, pause = time.monotonic() + PATIENCE + wait_lock, FIRST_PAUSE
    while True:
        entry = next((one for one in _notices(ensemble) if one.number == number), None)
        if entry is None:
            return None, reports
        if not told and (entry.job or entry.dropped):
            told = entry.job or entry.dropped
            say_received(entry, session)
        # What is handled now may have had further jobs since the last look.
        for job in _jobs_of(ensemble, entry) if entry.job else ():
            if job > told:
                told = job
                reports += _report(session, ensemble, job)
                pause = FIRST_PAUSE
        if entry.state == HANDLED:
            _say_what_was_not_done(entry, session)
            return entry, reports
        if not told and time.monotonic() >= until:
            open_job = ensemble.ask(STATUS, StatusAsked(), patience=LONG_PATIENCE).job
            if open_job is not None:
                say_kept(open_job.holder, "" if open_job.holder else open_job.job, session)
                return entry, reports
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def _jobs_of(ensemble: RemoteEnsemble, entry: NoticeData) -> Iterator[str]:
    """The jobs that a notice has caused so far, the oldest first, with the one that runs now."""
    causes = {"tell", *(f"trigger {one.trigger}" for one in entry.triggers)}
    for line in ensemble.ask(JOBS, Asked(), patience=LONG_PATIENCE).jobs:
        if line.id > entry.job and line.workflow in causes:
            yield line.id
    now = ensemble.ask(STATUS, StatusAsked(), patience=LONG_PATIENCE).job
    if now is not None and now.job > entry.job and now.workflow in causes:
        yield now.job


def _say_what_was_not_done(entry: NoticeData, session: Session) -> None:
    for one in entry.triggers:
        if one.said == NOTHING_TO_DO:
            session.note(f"  trigger {one.trigger}: there is nothing to do.")
        elif one.said.startswith(REFUSED):
            said = f"trigger {one.trigger} asked for what cannot be done, so nothing was done"
            session.warn(f"{said}: {printable(one.said.removeprefix(REFUSED))}")


def _notices(ensemble: RemoteEnsemble) -> tuple[NoticeData, ...]:
    return ensemble.ask(NOTICES, Asked(), patience=LONG_PATIENCE).notices


def _report(session: Session, ensemble: RemoteEnsemble, job: str) -> list[JobReport]:
    """Follow the job of a trigger, and say how it ended."""
    conversation = LookingConversation(session)
    report = follow_job(ensemble, job, conversation, partial(is_interrupted, ensemble, job))
    if report is None:
        return []
    say_ended(report, conversation, session)
    return [report]
