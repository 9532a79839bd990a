"""Errands: how an operation has ended that ran in the home of another worker is found out there, by whoever works there
now. A row says what is to be found out, and gets the answer.

Whoever is asked first makes the epoch of the asker known in that home, so that nothing of a former holder begins there
later. Where nobody works, it is waited for a while; then the operation is lost, since it may still run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from psycopg.types.numeric import Int8

from ordito.cluster.connecting import Connection, StoreConnection
from ordito.cluster.holding import Worker
from ordito.cluster.keys import PoolKey
from ordito.cluster.leases import HANDED_OVER
from ordito.cluster.postgres import fenced
from ordito.cluster.store_settings import LOST_AFTER, USUAL_LOST_AFTER, lost_after_of
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.journal_database import Fenced
from ordito.executors.local import settle_for
from ordito.model.settings import ASSUME_ENDED
from ordito.work.invocation import Ending, Epoch, InDoubt, Outcome

PAUSE = 0.5
"""Seconds between two looks at what has become of errands."""

GUARDED = 5.0
"""Seconds after which the guard of a worker that is gone has surely ended what that has started."""

BEGAN_AT = """
SELECT t.place, t.epoch, t.why FROM ordito.record r
JOIN ordito.tenure t ON t.ensemble = r.ensemble AND t.epoch = r.epoch
WHERE r.ensemble = %(ensemble)s AND r.job = %(job)s AND r.number = %(record)s
"""

HELD = "held AS (SELECT 1 FROM ordito.ensemble WHERE id = %(ensemble)s AND epoch = %(epoch)s FOR SHARE)"

ASK = f"""
WITH {HELD}
INSERT INTO ordito.errand (ensemble, job, step, attempt, epoch, asked_by, place, of_epoch, request)
SELECT %(ensemble)s, %(job)s, %(step)s, %(attempt)s, %(epoch)s, %(worker)s, %(place)s, %(of_epoch)s, %(request)s
FROM held ON CONFLICT (ensemble, job, step, attempt, epoch) DO UPDATE SET request = excluded.request
"""

STILL_HELD = f"WITH {HELD} SELECT 1 FROM held"

LOOK = f"""
SELECT a.step, a.attempt, a.result, coalesce(w.name, ''), coalesce(w.is_off, false), t.is_guarded,
       EXISTS (SELECT FROM ordito.worker h WHERE h.place = a.place AND h.pool <> '' AND h.state <> 'lost'
               AND h.lease_until > clock_timestamp()),
       extract(epoch FROM clock_timestamp() - greatest(a.at,
         (SELECT max(h.lease_until) FROM ordito.worker h WHERE h.place = a.place AND h.pool <> '')))::float8,
       (SELECT value FROM ordito.setting WHERE name = '{LOST_AFTER}')
FROM ordito.errand a JOIN ordito.tenure t ON t.ensemble = a.ensemble AND t.epoch = a.of_epoch
LEFT JOIN ordito.worker w ON w.id = t.worker
WHERE a.ensemble = %(ensemble)s AND a.epoch = %(epoch)s
"""

OPEN_AT = """
SELECT e.project, e.name, a.ensemble, a.epoch, a.asked_by, a.request, a.job, a.step, a.attempt FROM ordito.errand a
JOIN ordito.ensemble e ON e.id = a.ensemble AND e.epoch = a.epoch
WHERE a.place = %(place)s AND a.result IS NULL ORDER BY a.at LIMIT 100
"""
"""Only those of who holds the ensemble: nobody else waits for an answer."""

ANSWER = """
UPDATE ordito.errand SET result = %(result)s WHERE ensemble = %(ensemble)s AND job = %(job)s AND step = %(step)s
  AND attempt = %(attempt)s AND epoch = %(epoch)s AND result IS NULL
"""

BOUND_TO = "ordito errand 1"


class Answer(msgspec.Struct, frozen=True):
    """What was found out; no outcome where nobody knows, and nothing runs any more."""

    outcome: Outcome | None


class _Seen(msgspec.Struct, frozen=True):
    """What has become of an errand."""

    step: str
    attempt: int
    result: bytes | None
    worker: str
    """The name of the worker that has run the operation."""
    is_off: bool
    """Whether somebody has said that its machine is off."""
    is_guarded: bool
    """Whether it ended everything of its own where it could not renew its lease."""
    is_up: bool
    """Whether somebody works in its home."""
    waited: float
    """For how many seconds nobody has, since it was asked."""
    lost_after: str | None


class StoreHold:
    """How a process holds an ensemble of a store, see ``Hold``."""

    def __init__(
        self,
        address: str,
        ensemble: str,
        place: str,
        worker: Worker,
        key: PoolKey,
        epoch: Callable[[], int],
        turned_away: Callable[[Fenced], None],
    ) -> None:
        """``place`` is the id of this process's home, ``epoch`` that in which the ensemble is held now, 0 for none;
        ``turned_away`` as for ``PostgresDatabase``."""
        self._address = address
        self._ensemble = ensemble
        self._place = place
        self._worker = worker
        self._key = key
        self._epoch = epoch
        self._turned_away = turned_away
        self._waiting: dict[tuple[str, int], tuple[InDoubt, asyncio.Future[Outcome | None]]] = {}
        self._watch: asyncio.Task[None] | None = None

    @property
    def epoch(self) -> Epoch:
        """See ``Hold``."""
        return Epoch(self._epoch(), self._worker.id, self._ensemble)

    @property
    def is_sure(self) -> bool:
        """See ``Hold``."""
        return self._worker.may_launch

    @property
    def is_guarded(self) -> bool:
        """See ``Hold``."""
        return self._worker.is_guarded

    async def be_sure(self) -> None:
        """See ``Hold``."""
        while not self._worker.may_launch:
            await asyncio.to_thread(self._worker.sure)
            await asyncio.to_thread(self._check_held)

    async def is_elsewhere(self, doubt: InDoubt) -> bool:
        """See ``Hold``. Checks of instances, which no record tells of, count as run here. What the store does not say
        now is asked for, and then told as not known."""
        try:
            found = await asyncio.to_thread(self._began_at, doubt)
        except Fenced:
            raise
        except EnsembleError:
            return True
        return found is not None and found[0] != self._place

    async def ask(self, doubt: InDoubt) -> Outcome | None:
        """See ``Hold``. Many are waited for together."""
        try:
            if await asyncio.to_thread(self._send, doubt):
                # Who hands an ensemble over has ended what it ran.
                return None
        except EnsembleError as error:
            return _not_asked(error)
        answer: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._waiting[doubt.step, doubt.attempt] = doubt, answer
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._watch_all())
        return await answer

    async def _watch_all(self) -> None:
        while self._waiting:
            try:
                for one in await asyncio.to_thread(self._look):
                    self._judge(one)
            except EnsembleError as error:
                for _, answer in self._waiting.values():
                    if not answer.done() and isinstance(error, Fenced):
                        answer.set_exception(error)
                    elif not answer.done():
                        answer.set_result(_not_asked(error))
                self._waiting.clear()
                return
            self._waiting = {key: one for key, one in self._waiting.items() if not one[1].done()}
            await asyncio.sleep(PAUSE)

    def _judge(self, seen: _Seen) -> None:
        doubt, answer = self._waiting.get((seen.step, seen.attempt), (None, None))
        if doubt is None or answer is None or answer.done():
            return
        if seen.result is not None:
            try:
                body = self._key.opened(seen.result, self._ensemble, BOUND_TO)
                answer.set_result(msgspec.json.decode(body, type=Answer).outcome)
            except (EnsembleError, msgspec.DecodeError) as error:
                answer.set_result(_not_known(error))
            return
        patience = lost_after_of(seen.lost_after)
        is_assumed = seen.is_guarded and (patience is None or doubt.assumed == ASSUME_ENDED)
        if seen.is_off or (is_assumed and not seen.is_up and seen.waited > GUARDED):
            answer.set_result(None)
        elif not seen.is_up and seen.waited > (USUAL_LOST_AFTER if patience is None else patience):
            answer.set_result(_lost(seen))

    # ------------------------------------------------------------------------------------- in threads, one at a time

    def _began_at(self, doubt: InDoubt) -> tuple[str, int, str] | None:
        """The home in which an operation began, the epoch, and why that has ended; None where no record tells."""
        if doubt.record < 0:
            return None
        given = {"ensemble": self._ensemble, "job": doubt.job, "record": Int8(doubt.record)}
        with closing(StoreConnection(self._address, was_reached=True)) as link:
            row = link.ask("read", lambda db: db.execute(BEGAN_AT, given).fetchone() or (), lambda _: None)
        return (str(row[0]), int(row[1]), str(row[2])) if row else None

    def _send(self, doubt: InDoubt) -> bool:
        """Ask; returns True where the answer is known already: nothing runs any more."""
        found = self._began_at(doubt)
        assert found is not None, "it is elsewhere"
        place, of_epoch, why = found
        if why == HANDED_OVER:
            return True
        # Whoever answers looks into its own machine, and reaches no host: nobody else is to have its credentials.
        asked = msgspec.structs.replace(doubt, target=None)
        request = self._key.sealed(msgspec.json.encode(asked), self._ensemble, BOUND_TO)
        given = {
            **self._held(),
            "job": doubt.job,
            "step": doubt.step,
            "attempt": doubt.attempt,
            "worker": self._worker.id,
            "place": place,
            "of_epoch": Int8(of_epoch),
            "request": request,
        }
        with closing(StoreConnection(self._address, was_reached=True)) as link:
            if not link.ask("ask in", lambda db: db.execute(ASK, given).rowcount > 0, lambda _: None):
                self._be_turned_away()
        return False

    def _look(self) -> list[_Seen]:
        given = self._held()

        def work(db: Connection) -> list[tuple[Any, ...]]:
            return db.execute(LOOK, given).fetchall()

        with closing(StoreConnection(self._address, was_reached=True)) as link:
            return [_Seen(*row) for row in link.ask("read", work, lambda _: None)]

    def _check_held(self) -> None:
        given = self._held()
        with closing(StoreConnection(self._address, was_reached=True)) as link:
            if not link.ask("read", lambda db: db.execute(STILL_HELD, given).rowcount > 0, lambda _: None):
                self._be_turned_away()

    def _held(self) -> dict[str, Any]:
        return {"ensemble": self._ensemble, "epoch": Int8(self._epoch())}

    def _be_turned_away(self) -> None:
        error = fenced(self._ensemble)
        self._turned_away(error)
        raise error


def carry_out_errands(link: StoreConnection, home: Path, place: str, key: PoolKey) -> int:
    """Find out what is asked about operations that ran in a home; how many were answered. Raises ``EnsembleError``."""

    def read(db: Connection) -> list[tuple[Any, ...]]:
        return db.execute(OPEN_AT, {"place": place}).fetchall()

    found = link.ask("read", read, lambda _: None)
    asked: list[tuple[dict[str, Any], Epoch, InDoubt, Path]] = []
    answers: list[tuple[dict[str, Any], Outcome | None]] = []
    for project, name, ensemble, epoch, asked_by, request, *of in found:
        answer = {
            "ensemble": str(ensemble),
            "epoch": Int8(epoch),
            **dict(zip(("job", "step", "attempt"), of, strict=True)),
        }
        try:
            doubt = msgspec.json.decode(key.opened(bytes(request), str(ensemble), BOUND_TO), type=InDoubt)
        except (EnsembleError, msgspec.DecodeError) as error:
            # The others are answered all the same.
            answers.append((answer, _not_known(error)))
            continue
        folder = home / "ensembles" / str(project) / str(name) / ".ordito" / "scratch"
        asked.append((answer, Epoch(int(epoch), str(asked_by), str(ensemble)), doubt, folder))
    outcomes = asyncio.run(_settle_all([one[1:] for one in asked])) if asked else []
    answers += [(one[0], outcome) for one, outcome in zip(asked, outcomes, strict=True)]
    for answer, outcome in answers:
        body = key.sealed(msgspec.json.encode(Answer(outcome)), answer["ensemble"], BOUND_TO)
        said = {**answer, "result": body}
        link.ask("answer in", lambda db, said=said: db.execute(ANSWER, said).rowcount >= 0, lambda _: None)  # type: ignore[misc]
    return len(answers)


async def _settle_all(asked: list[tuple[Epoch, InDoubt, Path]]) -> list[Outcome | None]:
    return list(await asyncio.gather(*(_settle(folder, epoch, doubt) for epoch, doubt, folder in asked)))


async def _settle(folder: Path, epoch: Epoch, doubt: InDoubt) -> Outcome | None:
    try:
        return await settle_for(folder, epoch, doubt)
    except (OSError, EnsembleError, msgspec.DecodeError) as error:
        return _not_known(error)


def _not_known(error: Exception) -> Outcome:
    why = str(error)
    if isinstance(error, OSError) and error.filename:
        why = f"{error.strerror}: {error.filename}"
    elif isinstance(error, EnsembleError) and error.hint:
        why = f"{error.message}; {error.hint}"
    return Outcome(Ending.LOST, message=f"it is not known how this operation ended: {why}")


def _not_asked(error: EnsembleError) -> Outcome:
    """Nobody can be asked. Where another process has taken the ensemble over, it is raised instead."""
    if isinstance(error, Fenced):
        raise error
    said = f"{error.message}; {error.hint}" if error.hint else error.message
    return Outcome(
        Ending.LOST, message=f"in doubt since the job was interrupted, and its machine cannot be asked: {said}"
    )


def _lost(seen: _Seen) -> Outcome:
    who = f"worker {seen.worker}" if seen.worker else "a worker that was forgotten"
    return Outcome(
        Ending.LOST,
        message=(
            f"in doubt since the job was interrupted: it ran on the machine of {who}, where nobody works, and may still"
            f" run there; start that worker again, or, if its machine is off: `ordito workers lost {seen.worker}`"
        ),
    )
