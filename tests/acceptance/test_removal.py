"""Undeploying: everything that was made goes, whatever had failed and whatever became of the service meanwhile."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.acceptance.program import Small, make_small

STEPS = [
    "base_1.Standard.create",
    "base_1.Standard.start",
    "middle_1.Standard.configure",
    "middle_1.peer.base_1.Configure.add_target",
    "top_1.Standard.create",
    "top_1.Standard.start",
]
EVERYTHING = [
    *("base_1.created", "base_1.started", "middle_1-base_1.linked", "middle_1.created", "middle_1.started"),
    *("top_1-base_1.linked", "top_1-middle_1.linked", "top_1.created", "top_1.started"),
]


def assert_all_is_gone(small: Small) -> None:
    """Undeploying succeeds, nothing that an operation has made is left, and nothing is known to exist."""
    undeployed = small.run("undeploy", "--yes")
    assert undeployed.code == 0, undeployed.both
    assert small.things() == []
    assert json.loads(small.run("status", "-o", "json").out)["instances"] == {}
    again = small.run("undeploy", "--yes")
    assert again.code == 0
    assert "nothing to" in again.both.lower()


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_undeploying_removes_what_a_failed_deployment_has_left(tmp_path: Path, step: str, moment: str) -> None:
    """An operation fails before or after it has done its part: what it may have made is removed as well."""
    small = make_small(tmp_path)
    (tmp_path / "failing").write_text(f"{moment} {step}", encoding="utf-8")
    failed = small.deploy()
    assert failed.code == 1, failed.both
    assert "exit 7" in failed.err
    assert small.things() != EVERYTHING
    assert_all_is_gone(small)


@pytest.mark.parametrize("step", ["top_1.Standard.delete", "base_1.Standard.delete"])
def test_undeploying_goes_on_where_it_failed(tmp_path: Path, step: str) -> None:
    """What could not be removed is removed by the next try."""
    small = make_small(tmp_path)
    assert small.deploy().code == 0
    assert small.things() == EVERYTHING
    (tmp_path / "failing").write_text(f"before {step}", encoding="utf-8")
    failed = small.run("undeploy", "--yes")
    assert failed.code == 1, failed.both
    assert small.things() != []
    shown = small.run("status")
    assert shown.out.splitlines()[1].startswith("a removal is not complete: job ")
    assert " undeploy " in shown.err.partition("Next:")[2]
    (tmp_path / "failing").unlink()
    assert_all_is_gone(small)


@pytest.mark.parametrize("fate", ["other nodes", "broken", "other scripts", "gone"])
def test_undeploying_removes_what_was_deployed_whatever_became_of_the_service(tmp_path: Path, fate: str) -> None:
    """The service is pinned: editing it after the deployment changes nothing for what exists."""
    small = make_small(tmp_path)
    assert small.deploy().code == 0
    folder = small.service.parent
    if fate == "other nodes":
        text = small.service.read_text(encoding="utf-8")
        small.service.write_text(text.replace("middle", "center").replace("small.Link", "big.Link"), encoding="utf-8")
    elif fate == "broken":
        small.service.write_text("topology_template: [", encoding="utf-8")
    elif fate == "other scripts":
        (folder / "do.sh").write_text("#!/bin/bash\nexit 9\n", encoding="utf-8")
    else:
        shutil.rmtree(folder)
    assert_all_is_gone(small)
