"""Records looked at and changed by hand: each change is recorded, and nothing is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ordito.ensemble.layout import Layout
from ordito.ensemble.replay import rebuild
from ordito.ensemble.store import read_ensemble
from tests.acceptance.program import Small, make_small
from tests.support.yaml_files import read_yaml


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Three nodes, deployed."""
    made = make_small(tmp_path)
    assert made.deploy().code == 0
    return made


def instances(small: Small) -> Any:
    """What exists, by id."""
    return json.loads(small.run("status", "-o", "json").out)["instances"]


def operations(small: Small) -> int:
    """How many operations have run so far."""
    return len(small.log.read_text(encoding="utf-8").splitlines())


def assert_replays(small: Small) -> None:
    """The records of all jobs still give what is recorded."""
    rebuilt = rebuild(Layout(small.ensemble))
    assert rebuilt.problems == ()
    with read_ensemble(small.ensemble) as ensemble:
        assert rebuilt.snapshot.instances == ensemble.snapshot.instances
        assert rebuilt.snapshot.links == ensemble.snapshot.links
        assert rebuilt.snapshot.highest == ensemble.snapshot.highest
        assert rebuilt.status == ensemble.status


def edit(small: Small, before: str, now: str) -> None:
    """Change the template."""
    text = small.service.read_text(encoding="utf-8")
    assert before in text
    small.service.write_text(text.replace(before, now), encoding="utf-8")


def test_what_is_recorded_is_shown_and_exported(small: Small) -> None:
    shown = small.run("state", "show", "top")
    assert shown.code == 0, shown.both
    record = read_yaml(shown.out)["top_1"]
    assert record["template"] == "top"
    assert record["readyState"] == {"local": "ok", "effective": "ok", "state": "started"}
    assert record["attributes"]["mark"] == "top_1"
    exported = json.loads(small.run("state", "export").out)
    assert exported["format"] == "ordito.state/1"
    assert list(exported["instances"]) == ["base_1", "middle_1", "top_1"]
    assert exported["instances"]["top_1"] == record
    written = small.home / "state.json"
    assert small.run("state", "export", "--out", str(written)).code == 0
    assert json.loads(written.read_text(encoding="utf-8")) == exported
    unknown = small.run("state", "show", "tops")
    assert unknown.code == 3
    assert "did you mean top" in unknown.err


def test_a_node_that_the_template_calls_otherwise_keeps_its_instances(small: Small) -> None:
    """Only its name has changed, so deploying finds nothing to do, and undeploying removes all."""
    before = operations(small)
    edit(small, "    middle:", "    center:")
    edit(small, "{ peer: middle }", "{ peer: center }")
    moved = small.run("state", "mv", "middle", "center", "--yes")
    assert moved.code == 0, moved.both
    assert "middle_1 is center_1" in moved.err
    assert operations(small) == before
    found = instances(small)
    assert sorted(found) == ["base_1", "center_1", "top_1"]
    assert found["center_1"]["effective"] == "ok"
    again = small.deploy()
    assert again.code == 0, again.both
    assert "Nothing to do" in again.both
    assert_replays(small)
    (small.home / "things" / "center_1.created").touch()
    assert small.run("undeploy", "--yes").code == 0
    assert operations(small) > before
    assert instances(small) == {}


def test_a_move_is_refused_where_more_than_the_name_has_changed(small: Small) -> None:
    """Nothing is recorded then."""
    edit(small, "    middle:", "    center:")
    edit(small, "{ peer: middle }", "{ peer: center }")
    text = small.service.read_text(encoding="utf-8")
    edit(small, "center: { type: small.Node, requirements: [ { peer: base } ] }", "center: { type: small.Node }")
    refused = small.run("state", "mv", "middle", "center", "--yes")
    assert refused.code == 3, refused.both
    assert sorted(instances(small)) == ["base_1", "middle_1", "top_1"]
    small.service.write_text(text, encoding="utf-8")
    assert small.run("state", "mv", "middle", "center", "--yes").code == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("midle", "center", "did you mean middle"),
        ("middle", "base", "there are records of a node"),
        ("middle", "centre", "the template has no node"),
    ],
)
def test_a_move_says_what_is_wrong_with_it(small: Small, old: str, new: str, said: str) -> None:
    refused = small.run("state", "mv", old, new, "--yes")
    assert refused.code == 3, refused.both
    assert said in refused.err


def test_records_of_deleted_instances_are_dropped_when_asked_for(small: Small) -> None:
    assert small.run("undeploy", "--yes").code == 0
    assert len(json.loads(small.run("status", "--all", "-o", "json").out)["instances"]) == 3
    forgot = small.run("forget", "top")
    assert forgot.code == 0, forgot.both
    assert sorted(json.loads(small.run("status", "--all", "-o", "json").out)["instances"]) == ["base_1", "middle_1"]
    assert small.run("forget").code == 0
    assert json.loads(small.run("status", "--all", "-o", "json").out)["instances"] == {}
    nothing = small.run("forget")
    assert nothing.code == 0
    assert "Nothing to forget" in nothing.err
    assert_replays(small)


def test_what_exists_is_forgotten_only_on_demand_and_it_is_said_what_may_remain(small: Small) -> None:
    refused = small.run("forget", "top_1")
    assert refused.code == 3
    assert "top_1 exists" in refused.err
    unanswered = small.run("forget", "top_1", "--force")
    assert unanswered.code == 64, unanswered.both
    forgot = small.run("state", "rm", "top_1", "--yes")
    assert forgot.code == 0, forgot.both
    assert "top_1 (started, ok), made by create, configure, start" in forgot.err
    assert sorted(instances(small)) == ["base_1", "middle_1"]
    assert "top_1.created" in small.things()
    assert_replays(small)
    # The number is not used again, since what bears it may still be there.
    again = small.deploy()
    assert again.code == 0, again.both
    assert sorted(instances(small)) == ["base_1", "middle_1", "top_2"]


def test_what_exists_already_is_adopted_and_not_created_again(small: Small) -> None:
    """A node that is added to the template and runs already."""
    edit(small, "    top:", "    extra: { type: small.Node, requirements: [ { peer: base } ] }\n    top:")
    before = operations(small)
    adopted = small.run("state", "adopt", "extra", "-a", "mark=mine", "--yes")
    assert adopted.code == 0, adopted.both
    assert operations(small) == before
    found = instances(small)["extra_1"]
    assert (found["state"], found["local"], found["attributes"]["mark"]) == ("started", "ok", "mine")
    again = small.deploy()
    assert "Nothing to do" in again.both, again.both
    assert_replays(small)
    more = small.run("state", "adopt", "extra", "--yes")
    assert more.code == 3
    assert 'all wanted instances of "extra" exist' in more.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["adopt", "extr"], 3, "has no node"),
        (["adopt", "base", "-a", "marc=1"], 3, "all wanted instances"),
        (["adopt", "base", "-a", "mark"], 64, "NAME=VALUE"),
        (["rm", "nothing"], 3, 'no node or instance "nothing"'),
    ],
)
def test_mistakes_are_named(small: Small, arguments: list[str], code: int, said: str) -> None:
    found = small.run("state", *arguments, "--yes")
    assert found.code == code, found.both
    assert said in found.err


def test_a_sensitive_attribute_of_what_is_adopted_is_kept_sealed(small: Small) -> None:
    edit(small, "    top:", "    extra: { type: small.Node, metadata: { sensitive: true } }\n    top:")
    asked = small.run("state", "adopt", "extra", "-a", "mark=hunter2", "--no-input")
    assert asked.code == 64
    adopted = small.run("state", "adopt", "extra", "-a", "mark=hunter2", "--yes")
    assert adopted.code == 0, adopted.both
    shown = small.run("state", "show", "extra")
    assert read_yaml(shown.out)["extra_1"]["attributes"] == {"mark": "(sensitive)"}
    for text in (asked.both, adopted.both, shown.both, small.run("describe", "extra_1").both):
        assert "hunter2" not in text
    files = [path for path in small.ensemble.rglob("*") if path.is_file()]
    assert not [path.name for path in files if b"hunter2" in path.read_bytes()]
    assert_replays(small)
