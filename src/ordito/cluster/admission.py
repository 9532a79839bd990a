"""Admission: which of the items that wait get into the queues of a pool.

The queues know no projects, so they are kept short, and items are let in by deficit round robin over the projects: who
has ten thousand ensembles does not keep the others waiting. One worker at a time does it, with the row of the pool
locked; whose turn it is goes on where the last admission has stopped.
"""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from ordito.cluster.connecting import Connection
from ordito.cluster.dispatch import CLASSES, Delivery, Dispatch

AHEAD = 2
"""So many items for each free slot are in the queues at most."""

FREE = """
SELECT coalesce(sum(slots), 0)::int, coalesce(sum(greatest(1, slots / 2)), 0)::int FROM ordito.worker
WHERE pool = %(pool)s AND state = 'ready' AND lease_until > clock_timestamp()
"""

QUEUED = """
SELECT i.class, count(*) FILTER (WHERE i.worker = '')::int, count(w.id)::int
FROM ordito.item i LEFT JOIN ordito.worker w ON w.id = i.worker AND w.lease_until > clock_timestamp()
WHERE i.pool = %(pool)s AND i.state = 'queued' GROUP BY i.class
"""

OF_CLASS = "i.pool = %(pool)s AND i.class = %(klass)s AND i.state = 'waiting'"
ADMISSIBLE = "NOT EXISTS (SELECT FROM ordito.item q WHERE q.ensemble = i.ensemble AND q.state = 'queued')"
"""Of an ensemble one item is in the queues at a time: the others could only wait there, in the place of others."""

PROJECTS = f"""
WITH RECURSIVE found AS (
  (SELECT i.project FROM ordito.item i WHERE {OF_CLASS} ORDER BY i.project LIMIT 1)
  UNION ALL
  SELECT (SELECT i.project FROM ordito.item i WHERE {OF_CLASS} AND i.project > found.project
          ORDER BY i.project LIMIT 1)
  FROM found WHERE found.project IS NOT NULL
)
SELECT found.project, coalesce(p.weight, 1), coalesce(p.most_jobs, 0),
       (SELECT count(*) FROM ordito.item q WHERE q.project = found.project AND q.state = 'queued')::int
FROM found LEFT JOIN ordito.project p ON p.id = found.project
WHERE found.project IS NOT NULL
  AND EXISTS (SELECT FROM ordito.item i WHERE {OF_CLASS} AND i.project = found.project AND {ADMISSIBLE})
ORDER BY found.project
"""

CANDIDATES = f"""
SELECT i.id, i.ensemble FROM ordito.item i WHERE {OF_CLASS} AND i.project = %(project)s AND {ADMISSIBLE}
ORDER BY i.at, i.id LIMIT %(most)s
"""

ADMIT = """
UPDATE ordito.item SET state = 'queued', delivery = delivery + 1, worker = '' WHERE id = ANY(%(ids)s)
RETURNING id, delivery, ensemble
"""

TURN = "SELECT project, credit FROM ordito.turn WHERE pool = %(pool)s AND class = %(klass)s"
KEEP_TURN = """
INSERT INTO ordito.turn (pool, class, project, credit) VALUES (%(pool)s, %(klass)s, %(project)s, %(credit)s)
ON CONFLICT (pool, class) DO UPDATE SET project = excluded.project, credit = excluded.credit
"""


def admit(dispatch: Dispatch, pool: str) -> list[Delivery]:
    """Let items that wait for a pool into its queues, as long as fewer than ``AHEAD`` for each free slot are there.
    Nothing where another worker does so at this moment, or the pool is held. Raises ``EnsembleError``."""
    return dispatch.submit(lambda db: _chosen(db, pool))


def _chosen(db: Connection, pool: str) -> list[Delivery]:
    mine = "SELECT is_held FROM ordito.pool WHERE name = %(pool)s FOR UPDATE SKIP LOCKED"
    row = db.execute(mine, {"pool": pool}).fetchone()
    if row is None or row[0]:
        return []
    row = db.execute(FREE, {"pool": pool}).fetchone()
    assert row is not None
    slots, halves = row
    queued = {klass: (waiting, claimed) for klass, waiting, claimed in db.execute(QUEUED, {"pool": pool})}
    free = slots - sum(claimed for _, claimed in queued.values())
    found: list[Delivery] = []
    ahead = 0
    for klass in CLASSES:
        # What is less urgent does not count: it may wait in its own queue for slots that others get.
        waiting, claimed = queued.get(klass, (0, 0))
        ahead += waiting
        mine = min(free, halves - claimed) if klass == "background" else free
        taken = _Turns(db, pool, klass, AHEAD * mine - ahead).taken()
        ahead += len(taken)
        found += taken
    return found


class _Project(msgspec.Struct):
    name: str
    weight: int
    left: int
    """How many more of its items may be queued or run."""


class _Turns:
    """The turns of projects in one class of a pool."""

    def __init__(self, db: Connection, pool: str, klass: str, room: int) -> None:
        self._db = db
        self._key = {"pool": pool, "klass": klass}
        self._room = room
        self._taken: list[Delivery] = []

    def taken(self) -> list[Delivery]:
        """Take as many items as there is room for."""
        if self._room <= 0:
            return []
        projects = [
            _Project(name, max(1, weight), most - queued if most else self._room)
            for name, weight, most, queued in self._db.execute(PROJECTS, self._key)
        ]
        projects = [one for one in projects if one.left > 0]
        if not projects:
            return []
        row = self._db.execute(TURN, self._key).fetchone()
        name, credit = row or ("", 0)
        at = bisect_left([one.name for one in projects], name) % len(projects)
        if projects[at].name != name:
            credit = 0
        while self._room > 0 and projects:
            one = projects[at]
            # Credit that is left is of a turn that had no room any more: it goes on.
            credit = credit or one.weight
            taken = self._take(one, credit)
            one.left -= taken
            credit -= taken
            if credit and (self._room > 0 or one.left <= 0):
                # It has no more that could be let in: what it has not used is lost.
                credit = 0
                del projects[at]
            elif not credit:
                at += 1
            at = at % len(projects) if projects else 0
        turn = projects[at].name if projects else ""
        self._db.execute(KEEP_TURN, {**self._key, "project": turn, "credit": credit})
        return self._taken

    def _take(self, project: _Project, credit: int) -> int:
        """Take up to so many items of a project, of each ensemble one."""
        taken = 0
        while (most := min(credit - taken, project.left - taken, self._room)) > 0:
            given = {**self._key, "project": project.name, "most": most}
            by_ensemble: dict[str, str] = {}
            for id, ensemble in self._db.execute(CANDIDATES, given):
                by_ensemble.setdefault(ensemble, id)
            if not by_ensemble:
                break
            for id, number, ensemble in self._db.execute(ADMIT, {"ids": list(by_ensemble.values())}):
                self._taken.append(Delivery(id, number, ensemble, self._key["pool"], self._key["klass"]))
                taken += 1
                self._room -= 1
        return taken
