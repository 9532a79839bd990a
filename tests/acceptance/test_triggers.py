"""Notices and triggers with the real program: what is told is handled once, whoever dies meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.program import LIMIT, Finished, Project, copied, ordito, start, status_of
from tests.support.forked import IMPATIENT
from tests.support.thorough import THOROUGH

DATA = Path(__file__).parent.parent / "data" / "reacting"

KILL = """
import os, signal
from ordito.ensemble import inbox
count = [0]
for name in ("put", "decide", "record_by", "recorded", "begin", "go_on", "end", "finish"):
    def counted(self, *arguments, _whole=getattr(inbox.Inbox, name), **named):
        count[0] += 1
        if {before} and count[0] == {number}:
            os.kill(os.getpid(), signal.SIGKILL)
        done = _whole(self, *arguments, **named)
        if not {before} and count[0] == {number}:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    setattr(inbox.Inbox, name, counted)
"""
"""Dies before or after the inbox is changed for the so-manieth time."""


MOMENTS = range(1, 12) if THOROUGH else (1, 4, 6)
MOMENTS_OF_PARTS = range(4, 10) if THOROUGH else (5, 7)


class Sensors(Project):
    """Sensors that tell, and an ensemble of them."""

    def tell(self, *arguments: str, code: str = "") -> Finished:
        """Tell something."""
        return ordito(self.home, "notify", *arguments, "-e", self.ensemble, code=code)

    @property
    def ran(self) -> list[str]:
        """The operations that ran, in order."""
        log = self.home / "log"
        return log.read_text().splitlines() if log.exists() else []

    def fresh(self) -> None:
        """Forget what ran."""
        (self.home / "log").unlink(missing_ok=True)

    def jobs(self) -> list[tuple[str, str]]:
        """The workflows of all jobs with how they ended, the first one first."""
        rows = [line.split("\t") for line in (self.ensemble / "jobs.tsv").read_text().splitlines()]
        return [(row[3], row[5]) for row in rows if row[1] == "job"]

    def attributes(self, instance: str) -> dict[str, Any]:
        """What is recorded of an instance."""
        return dict(status_of(self.ensemble)["instances"][instance].get("attributes", {}))

    def wait_for(self, name: str) -> None:
        """Wait until an operation stands at a pipe."""
        with (self.home / name).open() as pipe:
            pipe.read()

    def release(self) -> None:
        """Let it go on."""
        with (self.home / "release").open("w") as pipe:
            pipe.write("\n")

    def pipe(self, name: str) -> None:
        """Have the operations of a kind wait to be released."""
        os.mkfifo(self.home / name)
        if not (self.home / "release").exists():
            os.mkfifo(self.home / "release")


REACTIONS = [
    *(f"high.high.{i}.Watch.react" for i in ("many_1", "many_2", "one_1")),
    *(f"high.high.{i}.Watch.then" for i in ("many_1", "many_2", "one_1")),
]


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which sensors are deployed."""
    home = tmp_path_factory.mktemp("deployed")
    made = Sensors(home, copied(DATA, home / "service"))
    assert ordito(home, *made.deploying()).code == 0
    made.fresh()
    return home


@pytest.fixture
def sensors(deployed: Path, tmp_path: Path) -> Sensors:
    """Sensors, deployed."""
    home = copied(deployed, tmp_path / "home")
    return Sensors(home, home / "service")


def whole(sensors: Sensors) -> None:
    """See that the records give what is recorded, and that nothing waits."""
    replayed = sensors.run("jobs", "replay")
    assert replayed.code == 0, replayed.both
    assert "waits" not in sensors.run("policy", "list").both


def test_a_notification_leads_to_operations(sensors: Sensors) -> None:
    """R-12-4, R-12-5, R-3.6.22-5, R-12-2: on every instance of every target, and the second activity after the first
    has ended at all of them; with the attributes that were told."""
    told = sensors.tell("one", "raised", "-i", "level=7")
    assert told.code == 0, told.both
    assert (sorted(sensors.ran[:3]), sorted(sensors.ran[3:])) == (REACTIONS[:3], REACTIONS[3:])
    assert sensors.attributes("one_1") == {"level": 7, "reacted": "7 "}
    assert sensors.attributes("many_1") == {"level": 0, "reacted": "0 "}
    assert sensors.jobs() == [("deploy", "ok"), ("notify", "ok"), ("trigger high.high", "ok")]
    shown = sensors.run("jobs", "show").both
    assert "trigger high.high, Watch.raised of one_1" in shown
    whole(sensors)


def test_where_the_condition_does_not_hold_nothing_runs(sensors: Sensors) -> None:
    """R-12-4: the attribute is set all the same, and it is said why nothing is done."""
    told = sensors.tell("one", "raised", "-i", "level=5")
    assert told.code == 0
    assert '"level" of one_1 is 5' in told.err
    assert (sensors.ran, sensors.jobs()[-1]) == ([], ("notify", "ok"))
    assert sensors.attributes("one_1") == {"level": 5}


def test_an_action_that_fails_is_not_repeated(sensors: Sensors) -> None:
    """R-3.6.22-5: the second activity does not run, the job has failed, and the event is done."""
    (sensors.home / "failing").touch()
    told = sensors.tell("one", "raised", "-i", "level=7")
    assert told.code == 1
    assert sorted(sensors.ran) == REACTIONS[:3]
    assert sensors.jobs()[-1] == ("trigger high.high", "failed")
    (sensors.home / "failing").unlink()
    sensors.fresh()
    assert sensors.tell("one", "beat").code == 0
    assert sensors.ran == []
    whole(sensors)


def test_an_event_during_a_job_runs_after_it(sensors: Sensors) -> None:
    """R-12-9, R-7-1: it is kept, nothing of it is done meanwhile, and whoever runs the job sees to it afterwards."""
    sensors.pipe("starting")
    deploying = start(sensors.home, *sensors.deploying("--force", "--parallel", "1"))
    sensors.wait_for("starting")
    sensors.fresh()
    told = sensors.tell("one", "raised", "-i", "level=8")
    assert (told.code, sensors.ran) == (0, [])
    assert "Kept: it is handled when the command that is running now has ended" in told.err
    assert sensors.attributes("one_1") == {"level": 0}
    assert "waits" in sensors.run("policy", "list").err
    assert "1 notice waiting to be handled" in sensors.run("status").out
    (sensors.home / "starting").unlink()
    sensors.release()
    _, err = deploying.communicate(timeout=LIMIT)
    assert deploying.returncode == 0, err
    assert "one_1: Watch.raised received" in err
    assert sensors.ran[-6:]
    assert sorted(sensors.ran[-6:]) == sorted(REACTIONS)
    assert sensors.jobs()[1:] == [("deploy", "ok"), ("notify", "ok"), ("trigger high.high", "ok")]
    whole(sensors)


def test_what_comes_while_a_trigger_acts_follows_in_order(sensors: Sensors) -> None:
    """R-12-9: one workflow at a time, in the order in which events came."""
    sensors.pipe("reacting")
    first = start(sensors.home, "notify", "one", "raised", "-i", "level=8", "--parallel", "1", "-e", sensors.ensemble)
    sensors.wait_for("reacting")
    for level in (9, 3, 6):
        assert sensors.tell("many_1", "raised", "-i", f"level={level}").code == 0
    (sensors.home / "reacting").unlink()
    sensors.release()
    _, err = first.communicate(timeout=LIMIT)
    assert first.returncode == 0, err
    expected = ["notify", "trigger high.high", "notify", "trigger high.high", "notify", "notify", "trigger high.high"]
    assert [name for name, _ in sensors.jobs()[1:]] == expected
    assert sensors.attributes("many_1")["level"] == 6
    whole(sensors)


def test_of_notices_at_one_time_none_is_lost_and_none_handled_twice(sensors: Sensors) -> None:
    """R-12-9."""
    several = [
        start(sensors.home, "notify", about, "raised", "-i", f"level={level}", "-e", sensors.ensemble)
        for level, about in ((6, "one"), (7, "many_1"), (8, "many_2"), (1, "many_2"))
    ]
    for process in several:
        _, err = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, err
    assert Counter(sensors.ran) == dict.fromkeys(REACTIONS, 3)
    assert Counter(name for name, _ in sensors.jobs()) == {"deploy": 1, "notify": 4, "trigger high.high": 3}
    whole(sensors)


@pytest.mark.parametrize("before", [True, False])
def test_a_kill_anywhere_loses_nothing_and_repeats_nothing(sensors: Sensors, before: bool) -> None:
    """R-12-9: kill -9 at each change of the inbox; then whoever works on the ensemble next ends it."""
    for number in MOMENTS:
        sensors.fresh()
        jobs = len(sensors.jobs())
        told = sensors.tell("one", "raised", "-i", "level=7", code=KILL.format(before=before, number=number))
        if told.code != -9:
            break
        rest = sensors.run("jobs", "resume")
        assert rest.code == 0, rest.both
        expected: list[str] = [] if before and number == 1 else REACTIONS
        assert sorted(sensors.ran) == sorted(expected), (number, rest.both)
        made = ["notify", "trigger high.high"] if expected else []
        assert [name for name, _ in sensors.jobs()[jobs:]] == made
    assert number > 4
    whole(sensors)


def test_a_kill_in_an_action_is_resumed(sensors: Sensors) -> None:
    """R-12-9: until then what comes waits, and nothing is told that it would be handled."""
    sensors.pipe("reacting")
    first = start(sensors.home, "notify", "one", "raised", "-i", "level=8", "--parallel", "1", "-e", sensors.ensemble)
    sensors.wait_for("reacting")
    first.kill()
    first.communicate(timeout=LIMIT)
    (sensors.home / "reacting").unlink()
    told = sensors.tell("one", "raised", "-i", "level=1")
    assert told.code == 0
    assert "was interrupted" in told.err
    assert "jobs resume" in told.err
    assert sensors.run("deploy", "--yes").code == 5
    rest = sensors.run("jobs", "resume", code=IMPATIENT)
    assert rest.code == 0, rest.both
    assert [name for name, _ in sensors.jobs()[1:]] == ["notify", "trigger high.high", "notify"]
    assert sensors.attributes("one_1")["level"] == 1
    whole(sensors)


def test_a_circle_of_events_ends(sensors: Sensors) -> None:
    """An action that raises the event that it acts on: ten times, then what would go on for ever is refused."""
    tell = f'{sys.executable} -m ordito notify one again -e "{sensors.ensemble}"'
    (sensors.home / "tell").write_text(f"export PYTHONPATH={Path(__file__).parents[2] / 'src'}\n{tell}\n")
    told = sensors.tell("one", "again")
    assert told.code == 1
    assert "endless-events" in told.err
    names = Counter(sensors.jobs())
    assert names["notify", "ok"] == 10
    assert (names["trigger loop.loop", "ok"], names["trigger loop.loop", "failed"]) == (9, 1)
    whole(sensors)


def test_policies_scale_within_their_bounds(sensors: Sensors) -> None:
    """R-12-12, R-12-14: by the increment, and never beyond the bounds; then nothing runs, and the event is
    done."""
    told = sensors.tell("many_1", "worse", "-i", "level=9")
    assert told.code == 0, told.both
    assert sensors.jobs()[-1] == ("scale", "ok")
    assert "trigger grow.out" in sensors.run("jobs", "show").both
    assert {"many_3", "many_4"} <= set(status_of(sensors.ensemble)["instances"])
    sensors.fresh()
    told = sensors.tell("many_1", "worse", "-i", "level=9")
    assert told.code == 3
    assert "2 to 4" in told.err
    assert "grow" in told.err
    assert (sensors.ran, sensors.jobs()[-1]) == ([], ("notify", "ok"))
    told = sensors.tell("many_1", "worse", "-i", "level=1")
    assert told.code == 0, told.both
    assert [name for name, _ in sensors.jobs()[-3:]] == ["notify", "trigger grow.in", "scale"]
    assert status_of(sensors.ensemble)["instances"]["many_4"]["readyState"]["local"] == "absent"
    whole(sensors)


def test_policies_drive_whole_workflows(sensors: Sensors) -> None:
    """R-7-2, R-12-4: each is a job of its own, in its place among the actions."""
    told = sensors.tell("many_1", "beat")
    assert told.code == 0, told.both
    starts = [f"many_{n}.Standard.{name}" for n in (1, 2) for name in ("stop", "start")]
    assert sorted(sensors.ran) == sorted([*starts, *(f"mend.again.many_{n}.Watch.then" for n in (1, 2))])
    assert sensors.jobs()[-3:] == [("notify", "ok"), ("restart", "ok"), ("trigger mend.again", "ok")]
    sensors.fresh()
    assert sensors.tell("many_2", "down").code == 0
    assert sensors.ran == ["many_2.Standard.stop", "many_2.Standard.start"]
    assert sensors.jobs()[-1] == ("heal", "ok")
    whole(sensors)


def test_what_has_gone_meanwhile_changes_nothing(sensors: Sensors) -> None:
    """A notice of an instance that the job removes for which it waits."""
    sensors.pipe("stopping")
    removing = start(sensors.home, "undeploy", "--yes", "--parallel", "1", "-e", sensors.ensemble)
    sensors.wait_for("stopping")
    assert sensors.tell("many_1", "raised", "-i", "level=9").code == 0
    (sensors.home / "stopping").unlink()
    sensors.release()
    _, err = removing.communicate(timeout=LIMIT)
    assert removing.returncode == 0, err
    assert "many_1 is not there any more" in err
    assert sensors.jobs()[-1] == ("undeploy", "ok")
    whole(sensors)
    assert sensors.tell("many_1", "raised").code == 3


def test_a_kill_between_the_parts_of_a_trigger_repeats_none(sensors: Sensors) -> None:
    """R-12-9: its operations are one job, and the scaling after them another; each runs once."""
    assert sensors.tell("many_1", "worse", "-i", "level=9").code == 0
    for number in MOMENTS_OF_PARTS:
        sensors.fresh()
        jobs = len(sensors.jobs())
        assert sensors.run("scale", "many=4", "--yes").code == 0
        scaled = len(sensors.jobs()) - jobs
        sensors.fresh()
        told = sensors.tell("many_1", "worse", "-i", "level=1", code=KILL.format(before=number % 2, number=number))
        rest = sensors.run("jobs", "resume")
        assert rest.code == 0, rest.both
        made = [name for name, _ in sensors.jobs()[jobs + scaled :]]
        assert made == ["notify", "trigger grow.in", "scale"], (number, told.code)
        assert len(set(sensors.ran)) == 5
        assert Counter(step.rpartition(".")[2] for step in sensors.ran) == {"react": 4, "stop": 1}
    whole(sensors)


def test_signals_of_the_world_reach_others_too(sensors: Sensors) -> None:
    """A program that is told to give up leaves what waits for the next one."""
    sensors.pipe("reacting")
    first = start(sensors.home, "notify", "one", "raised", "-i", "level=8", "--parallel", "1", "-e", sensors.ensemble)
    sensors.wait_for("reacting")
    assert sensors.tell("many_1", "raised", "-i", "level=4").code == 0
    (sensors.home / "reacting").unlink()
    subprocess.run(["kill", "-INT", str(first.pid)], check=True)
    sensors.release()
    _, err = first.communicate(timeout=LIMIT)
    assert first.returncode == 130, err
    assert err.count("to be handled") == 1
    assert sensors.run("jobs", "resume").code == 0
    assert sensors.attributes("many_1")["level"] == 4
    whole(sensors)
