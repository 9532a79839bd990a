"""Receive a notice: write down what it changes, as a job of its own, and decide which triggers act on it."""

from __future__ import annotations

from enum import Enum

from ordito.app.notices.rulings import ruled
from ordito.app.place import Place
from ordito.app.state.deployed import deployed
from ordito.app.state.edit import Edit, Record, write_down
from ordito.app.state.rebased import copied
from ordito.ensemble.inbox import WAITING, Entry, Inbox
from ordito.ensemble.store import Ensemble
from ordito.instances.evaluate import Evaluator
from ordito.instances.topology_outputs import topology_outputs
from ordito.work.attribute_values import WrongValue
from ordito.work.notices import NotHeard, Notice, changes_of
from ordito.work.plan import Call
from ordito.work.telling import has_listeners
from ordito.work.triggers import Decision, decide, hearing

NOTIFY = "notify"
"""The workflow's name of the jobs that record notices."""


class Reception(Enum):
    """What came of a notice: it changed nothing, it is recorded, or also somebody may have to be told of it."""

    DROPPED = "dropped"
    RECORDED = "recorded"
    NEWS = "news"


def receive(place: Place, ensemble: Ensemble, inbox: Inbox, entry: Entry, commit: str) -> Reception:
    """Record a notice, whose attributes have their new values afterwards, and write down what triggers make of it.
    What it is about may have gone while it waited; it is dropped then.

    Raises ``Refused`` where the job's files must be committed and cannot, and ``EnsembleError``.
    """
    notice = entry.notice
    if not ensemble.status.service:
        inbox.drop(entry.number, "nothing is deployed any more")
        return Reception.DROPPED
    basis = deployed(place, ensemble)
    service = basis.whole.service
    try:
        before = Evaluator(service, ensemble.snapshot, basis.inputs, root=basis.pinned.root)
        delta = changes_of(before, notice)
        snapshot = copied(ensemble.snapshot)
        snapshot.apply(delta)
        evaluator = Evaluator(service, snapshot, basis.inputs, root=basis.pinned.root)
        # What was decided before a crash holds: evaluations that count were counted then.
        decisions = _decisions(evaluator, notice, inbox) if entry.state == WAITING else _decided(entry)
    except (NotHeard, WrongValue) as error:
        inbox.drop(entry.number, str(error))
        return Reception.DROPPED

    def begins(job: str) -> None:
        if entry.state == WAITING:
            inbox.decide(entry.number, job, decisions)
        else:
            inbox.record_by(entry.number, job)

    outputs, _ = topology_outputs(evaluator, ensemble.status.counts)
    pair = "" if notice.node else notice.entity
    edit = Edit(notice.instances[0], _summary(decisions), lambda _: delta, pair)
    how = Record(NOTIFY, _call(notice), "told from outside", outputs)
    write_down(ensemble, how, [edit], basis, commit, begins=begins)
    inbox.recorded(entry.number)
    return Reception.NEWS if has_listeners(service) else Reception.RECORDED


def _decisions(evaluator: Evaluator, notice: Notice, inbox: Inbox) -> list[Decision]:
    decisions = [decide(evaluator, notice, heard, inbox.evaluations) for heard in hearing(evaluator.service, notice)]
    return [ruled(decision, evaluator, notice) for decision in decisions]


def _decided(entry: Entry) -> list[Decision]:
    return [Decision(f.policy, f.trigger, acts=not f.is_done, said=f.said) for f in entry.firings]


def _summary(decisions: list[Decision]) -> str:
    """What triggers make of it, for people."""
    said = [f"trigger {d.policy}.{d.trigger}: {'acts' if d.acts else d.said}" for d in decisions]
    return "; ".join(said) or "no trigger waits for it"


def _call(notice: Notice) -> Call:
    owner, side = (notice.node, "") if notice.node else (notice.relationship, "source")
    return Call(owner, side, notice.interface or "event", notice.name)
