"""That a scenario that is not as it says is noticed: what these tests rely on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.scenarios import Scenario, expanded, operations
from tests.support.yaml_files import write_yaml

SERVICE = {
    "nodes": {
        "base": {"runs": "create start delete"},
        "top": {"count": 2, "runs": "create", "needs": {"base": "add_target"}},
    }
}
RIGHT = {
    "run": "deploy SERVICE",
    "runs": "base_1: create start\ntop_{1,2}: create\ntop_{1,2}.base.base_1: add_target",
    "order": "base_1.create < base_1.start < top_#.create < top_#.base.base_1.add_target",
    "apart": "top_1.create | top_2.create",
    "state": "base_1 top_{1,2}: started ok",
    "links": "top_{1,2}.base.base_1",
}


def play(folder: Path, **step: Any) -> None:
    file = folder / "one.yaml"
    file.write_text(write_yaml({"says": "", "service": SERVICE, "steps": [{**RIGHT, **step}]}))
    Scenario(file).play(folder)


def test_what_is_right_is_right(tmp_path: Path) -> None:
    play(tmp_path)


@pytest.mark.parametrize(
    ("key", "wrong", "said"),
    [
        ("runs", "base_1: create start\ntop_{1,2}: create", "unexpected.*add_target"),
        ("runs", RIGHT["runs"] + "\nbase_1: delete", "missing.*base_1.delete"),
        ("order", "base_1.start < base_1.create", "base_1.start does not come before base_1.create"),
        ("order", "top_1.create < top_2.create", "top_1.create does not come before top_2.create"),
        ("order", "base_1.create < top_3.create", "no step is called top_3.create"),
        ("apart", "base_1.start | top_2.create", "base_1.start and top_2.create are ordered"),
        ("state", "base_1 top_1: started ok", "top_2 exists"),
        ("state", "base_1 top_{1,2}: started error", "base_1 is started ok"),
        ("state", "base_{1,2} top_{1,2}: started ok", "there is no base_2"),
        ("links", "", "unexpected"),
        ("exit", 1, "Job .* done"),
        ("fails", "top_1.create", "Job .* failed"),
        ("prints", "Nothing to do", "it does not say"),
        ("wrong", 1, "unknown keys"),
    ],
)
def test_what_is_wrong_is_noticed(key: str, wrong: object, said: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=said):
        play(tmp_path, **{key: wrong})


def test_patterns() -> None:
    assert expanded("a_{1..3}.{x,y}") == ["a_1.x", "a_1.y", "a_2.x", "a_2.y", "a_3.x", "a_3.y"]
    assert list(operations("a_{1,2} b_1: x y\nc_1.z d_1.z")) == [
        *("a_1.x", "a_1.y", "a_2.x", "a_2.y", "b_1.x", "b_1.y", "c_1.z", "d_1.z"),
    ]  # fmt: skip
