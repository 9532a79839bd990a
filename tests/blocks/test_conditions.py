"""Conditions of lifecycle steps mean what CUE says they mean, or are refused with a place."""

import json
from pathlib import Path
from typing import Any

import pytest

from ordito.blocks.conditions.evaluator import evaluate
from ordito.blocks.conditions.faults import ConditionFailed, NotACondition, Reason
from ordito.blocks.conditions.parser import parse

GOLDEN = json.loads(Path(__file__).with_name("cue-conditions.json").read_text("utf-8"))
CONTEXT = GOLDEN["context"]


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["expr"])
def test_every_answer_is_that_of_cue(case: dict[str, Any]) -> None:
    text, value = case["expr"], case["value"]
    if value in {"true", "false"}:
        assert evaluate(parse(text), CONTEXT) is (value == "true")
        return
    with pytest.raises((NotACondition, ConditionFailed)) as caught:
        evaluate(parse(text), CONTEXT)
    if case["ok"]:  # CUE has a value, which is neither true nor false
        assert isinstance(caught.value, ConditionFailed)
        assert caught.value.reason is Reason.NOT_A_BOOL
