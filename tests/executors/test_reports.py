"""$ORDITO_OUTPUTS: outputs and reports that any program can write."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordito.executors.result_files import LeftFile, read_reported, read_result
from ordito.work.invocation import Ending
from tests.executors.place import Place


def write(text: str) -> str:
    return f"cat >$ORDITO_OUTPUTS <<'END OF IT'\n{text}\nEND OF IT\n"


def test_outputs_and_reports(place: Place) -> None:
    """R-13.2.7-1: the file wins over variables, holds any value, and reports."""
    values = {"X": "file", "N": {"a": [1, None]}, "ordito.changed": False, "ordito.status": "ok", "ordito.done": True}
    outcome = place.run(f"X=shell; Y=shell\n{write(json.dumps(values))}", outputs=("X", "Y")).outcome
    assert outcome.outputs == {"X": "file", "Y": "shell", "N": {"a": [1, None]}}
    assert (outcome.changed, outcome.status, outcome.done) == (False, "ok", True)


def test_nothing_reported_is_nothing_known(place: Place) -> None:
    outcome = place.run(": >$ORDITO_OUTPUTS").outcome
    assert (outcome.changed, outcome.status, outcome.done, outcome.outputs) == (None, "", None, {})


def test_one_step_s_outputs_are_not_the_next_one_s(place: Place) -> None:
    place.run("X=1\n" + write('{"A": 1}'), outputs=("X",), step="first")
    assert place.run("exec true", outputs=("X", "A"), step="second").outcome.outputs == {}


def test_a_failed_operation_can_report(place: Place) -> None:
    """A failure that says that nothing was modified."""
    outcome = place.run(write('{"ordito.changed": false}') + "exit 3").outcome
    assert (outcome.ending, outcome.changed, outcome.message) == (Ending.FAILED, False, "exit 3")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1,\n "b": [1, 2}', ":2:12: $ORDITO_OUTPUTS is not valid JSON: expected ',' or ']'"),
        ('{"a": 1,\n "b": [1, 2}', '; the line is:  "b": [1, 2}'),
        ('{"a": ', "$ORDITO_OUTPUTS is not valid JSON"),
        ('{"ä": NaN}', ":1:7: $ORDITO_OUTPUTS is not valid JSON"),
        ("[1]", ":1:1: $ORDITO_OUTPUTS must hold one JSON object"),
        ('{"ordito.chnged": true}', 'no report named "ordito.chnged"; did you mean "ordito.changed"?'),
        ('{"ordito.changed": "yes"}', '"ordito.changed" must be true or false'),
        ('{"ordito.status": "fine"}', '"ordito.status" must be one of unknown, pending, ok'),
    ],
)
def test_a_mistake_in_it_fails_the_operation(place: Place, text: str, says: str) -> None:
    outcome = place.run(write(text)).outcome
    assert (outcome.ending, outcome.exit_code) == (Ending.FAILED, 0)
    assert "outputs.json" in outcome.message
    assert says in outcome.message
    assert outcome.changed is None


@given(st.binary())
def test_whatever_is_in_the_files_is_no_fault_of_ours(data: bytes) -> None:
    read_reported(LeftFile(data), "outputs.json")
    assert read_result(data, "job", "step") is None


def test_deep_nesting_is_a_mistake_not_a_crash() -> None:
    assert "nested too deeply" in read_reported(LeftFile(b'{"a":' + b"[" * 200_000), "f").problem


FIELD = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(FIELD, st.dictionaries(FIELD.filter(bool), FIELD, max_size=3), st.integers(0, 255), st.binary(), st.data())
def test_a_result_is_read_back_and_one_that_was_cut_off_is_none(
    step: str, values: dict[str, str], status: int, rest: bytes, data: st.DataObject
) -> None:
    """What an older, longer result left behind the end is of no meaning; nothing less than the whole is taken."""
    fields = ["ordito-result/1", "job", step, "1", *(f for n, v in values.items() for f in (n, "text", v))]
    whole = "\0".join([*fields, "", str(status), "end", "job", step, "1", ""]).encode()
    result = read_result(whole + rest, "job", step, 1)
    assert result is not None
    assert (result.outputs, result.status) == (values, status)
    assert read_result(whole, "job", step + "x") is None
    assert read_result(whole, "job", step, 2) is None
    assert read_result(whole[: data.draw(st.integers(0, len(whole) - 1))], "job", step) is None
