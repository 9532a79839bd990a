"""`ordito notify`: what is told is checked, recorded, and never half done."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.acceptance.program import files_of
from tests.cli.program import DATA, Run


@pytest.fixture
def sensors(run: Run, tmp_path: Path) -> Path:
    """An ensemble with sensors."""
    shutil.copytree(DATA / "notices", tmp_path / "service")
    done = run("deploy", "service", "-e", "e", "--yes")
    assert done.code == 0, done.err
    return tmp_path / "e"


def attributes(run: Run, instance: str) -> dict[str, object]:
    """The attributes that are recorded of an instance."""
    shown = run("state", "show", instance, "-e", "e", "-o", "json").json
    return dict(shown["instances"][instance].get("attributes", {}))


def test_a_notification_sets_attributes(run: Run, sensors: Path) -> None:
    """R-2.17-1, R-3.6.19-2, R-4.5.1-3: from then on `get_attribute` gives the new value; the records give it again."""
    told = run("notify", "one", "raised", "-i", "level=7", "-i", "where=cellar", "-i", "version=6.10", "-e", "e")
    assert told.code == 0, told.err
    assert attributes(run, "one_1") == {"level": 7, "notes": {"where": "cellar"}, "version": "6.10"}
    assert run("output", "level", "-e", "e").out == "7\n"
    assert run("jobs", "replay", "-e", "e").code == 0
    listed = run("jobs", "list", "-e", "e", "-o", "json").json
    assert [job["workflow"] for job in listed["jobs"]] == ["notify", "deploy"]
    shown = run("jobs", "show", "-e", "e", "-o", "json").json
    assert shown["changes"][0]["operation"] == "Watch.raised"
    assert run("notify", "one_1", "my.Watch.raised", "-i", "where=attic", "-e", "e").code == 0
    assert attributes(run, "one_1") == {"level": 7, "notes": {"where": "attic"}, "version": "6.10"}


def test_values_come_from_files_too(run: Run, sensors: Path, tmp_path: Path) -> None:
    """They are texts until their attribute says what they are; what stands on the command line wins."""
    (tmp_path / "values.yaml").write_text("level: 3\nversion: 6.10\nwhere: yes\n")
    assert run("notify", "many_2", "raised", "-I", "values.yaml", "-i", "level=4", "-e", "e").code == 0
    assert attributes(run, "many_2") == {"level": 4, "version": "6.10", "notes": {"where": "yes"}}
    assert attributes(run, "many_1") == {}


def test_a_relationship_has_notifications_too(run: Run, sensors: Path) -> None:
    """R-3.6.19-2: what is mapped to SELF belongs to the pair, what is mapped to SOURCE to its source."""
    told = run("notify", "many_1.peer.one_1", "Line.lost", "-i", "losses=3", "-i", "seen=4", "-e", "e")
    assert told.code == 0, told.err
    assert attributes(run, "many_1") == {"level": 4}
    assert run("jobs", "replay", "-e", "e").code == 0


def test_nothing_has_to_be_told(run: Run, sensors: Path) -> None:
    told = run("notify", "one", "beat", "-e", "e", "-o", "json")
    assert told.code == 0
    assert (told.json["event"], told.json["handled"], told.json["triggers"]) == ("Watch.beat", True, [])


def test_what_is_secret_stays_so(run: Run, sensors: Path) -> None:
    told = run("notify", "one", "token", "-i", "token=canary-7431", "-e", "e", "--json")
    assert told.code == 0
    assert "canary-7431" not in told.out + told.err
    every = [path.read_bytes() for path in sensors.rglob("*") if path.is_file()]
    assert not any(b"canary-7431" in content for content in every)
    assert attributes(run, "one_1") == {"token": "(sensitive)"}


def test_an_event_that_a_trigger_waits_for_needs_no_notification(run: Run, sensors: Path) -> None:
    """R-12-4: monitors that know nothing of interfaces raise events by their names."""
    told = run("notify", "one", "monitor.failed", "-e", "e", "-o", "json")
    assert told.code == 0
    assert [t["trigger"] for t in told.json["triggers"]] == ["alarm.free"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["ones", "raised"], "unknown-name", "did you mean one"),
        (["many", "raised"], "several-instances", "many_1, many_2"),
        (["many_3", "raised"], "unknown-name", "many_"),
        (["one", "raise"], "unknown-notification", "did you mean Watch.raised"),
        (["one", "monitor.faild"], "unknown-notification", "did you mean monitor.failed"),
        (["many_1.peer.one_1", "Line.lots"], "unknown-notification", "did you mean Line.lost"),
        (["one", "raised", "-i", "levl=1"], "unknown-output", "did you mean level"),
        (["one", "beat", "-i", "levl=1"], "unknown-output", "it takes none"),
        (["one", "monitor.failed", "-i", "levl=1"], "unknown-output", "it takes none"),
        (["one", "raised", "-i", "level=high"], "bad-value", '"high" is no integer'),
        (["one", "raised", "-i", "level=[1"], "bad-value", "is no integer"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_what_makes_no_sense_changes_nothing(run: Run, sensors: Path, words: list[str], code: str, said: str) -> None:
    """R-3.6.19-1: exit code 3, with what was meant perhaps."""
    before = files_of(sensors)
    told = run("notify", *words, "-e", "e")
    assert (told.code, told.out) == (3, "")
    assert f"error[{code}]" in told.err
    assert said in told.err
    assert files_of(sensors) == before
    assert run("notify", "one", "beat", "-e", "e", "-o", "json").json["number"] == 1


def test_what_policies_wait_for_and_did_is_shown(run: Run, sensors: Path) -> None:
    listed = run("policy", "list", "-e", "e")
    assert "alarm.free" in listed.out
    assert "never heard it" in listed.out
    assert run("notify", "one", "monitor.failed", "-e", "e").code == 0
    shown = run("policy", "show", "alarm", "-e", "e")
    assert "waits for monitor.failed" in shown.out
    assert "monitor.failed of one_1: " in shown.out
    data = run("policy", "show", "alarm", "-e", "e", "-o", "json").json
    assert data["policies"]["alarm"]["triggers"]["free"]["events"][0]["entity"] == "one_1"
    unknown = run("policy", "show", "alrm", "-e", "e")
    assert (unknown.code, "did you mean alarm?" in unknown.err) == (3, True)


def test_nothing_can_be_told_where_nothing_is_deployed(run: Run, tmp_path: Path) -> None:
    assert run("notify", "one", "raised", "-e", "e").code == 3
    assert not (tmp_path / "e").exists()
