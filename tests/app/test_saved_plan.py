"""A saved plan as a file: what is read back is what was written, and what was changed or is of another time is said."""

from __future__ import annotations

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.app.errors import Refused
from ordito.app.plan_basis import PlanBasis
from ordito.app.saved_plan import BEGINNING, SavedPlan, encoded, is_saved_plan, read_saved_plan
from ordito.work.plan import Difference, Plan
from tests.planning.test_random_topologies import topologies
from tests.support.runs import World
from tests.support.thorough import examples

BASIS = PlanBasis("state", "A0 (deploy)", "user", "testing", "service", {"scripts/a.sh": "1"}, {"port": "2"}, "choices")


def saved(plan: Plan, asked: dict[str, object] | None = None) -> SavedPlan:
    return SavedPlan("0.1", plan.workflow, asked or {}, BASIS, plan)


@settings(max_examples=examples(12), deadline=None)
@given(
    topologies(),
    st.sampled_from(["deploy", "undeploy"]),
    st.dictionaries(st.text(), st.one_of(st.text(), st.integers(-(2**60), 2**60), st.booleans(), st.none())),
)
def test_what_is_read_back_is_what_was_written(made: object, workflow: str, values: dict[str, object]) -> None:
    world = World(made)  # type: ignore[arg-type]
    world.run()
    written = saved(world.plan(workflow), {"values": values})
    with TemporaryDirectory() as folder:
        path = Path(folder, "saved")
        path.write_bytes(encoded(written))
        assert is_saved_plan(str(path))
        assert read_saved_plan(str(path)) == written


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "p.plan"
    path.write_bytes(encoded(saved(Plan("deploy", (), (), (), ("",)))))
    return path


def test_a_file_that_was_cut_off_or_changed_anywhere_is_refused(file: Path) -> None:
    content = file.read_bytes()
    for cut in range(len(BEGINNING), len(content), 7):
        file.write_bytes(content[:cut])
        with pytest.raises(Refused) as refused:
            read_saved_plan(str(file))
        assert refused.value.code == "damaged-plan"
    for place in range(len(BEGINNING) + 2, len(content), 5):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(Refused) as refused:
            read_saved_plan(str(file))
        assert refused.value.code == "damaged-plan"
        assert "ordito plan --out" in refused.value.hint


def test_another_format_is_named(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"saved-plan/2", b"saved-plan/3", 1))
    assert is_saved_plan(str(file))
    with pytest.raises(Refused) as refused:
        read_saved_plan(str(file))
    assert refused.value.code == "unknown-plan-format"
    assert "ordito.saved-plan/3" in refused.value.message


def test_what_this_program_has_not_written_is_no_plan_even_with_the_right_digest(file: Path) -> None:
    body = b'"plan":[]}\n'
    head = file.read_bytes().split(b"\n", 1)[0]
    digest = hashlib.sha256(body).hexdigest().encode()
    file.write_bytes(head + b'\n"digest":"' + digest + b'",\n' + body)
    with pytest.raises(Refused) as refused:
        read_saved_plan(str(file))
    assert "not a plan that this program has written" in refused.value.message


@pytest.mark.parametrize("content", [b"", b"{}", b"tosca_definitions_version: tosca_simple_yaml_1_3\n", b'{"format":'])
def test_other_files_are_not_taken_for_plans(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    assert not is_saved_plan(str(path))
    assert not is_saved_plan(str(tmp_path))
    assert not is_saved_plan(str(tmp_path / "missing"))
    assert not is_saved_plan("a\0b")


def test_names_that_no_json_holds_are_refused() -> None:
    with pytest.raises(Refused, match="not UTF-8"):
        encoded(saved(Plan("deploy", (), (), (), ("\udc80",))))


def test_differences_survive(file: Path) -> None:
    from ordito.work.plan import Change

    change = Change("~", "a_1", "why", "f:1:2", (Difference("input x", [1, {"a": "b"}], None, "f:3:4"),))
    written = saved(Plan("deploy", (), (), (), ("",), (change,)))
    file.write_bytes(encoded(written))
    assert read_saved_plan(str(file)) == written
