"""Conditions of lifecycle steps, decided for who carries them out."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.blocks.conditions.evaluator import evaluate, referenced
from ordito.blocks.conditions.faults import ConditionFailed, NotACondition
from ordito.blocks.conditions.parser import parse
from ordito.work.hooks import Decided


def decide(text: str, context: Mapping[str, object]) -> Decided:
    """What becomes of a condition, given as its text, in a context that has all names it may begin a path with."""
    try:
        tree = parse(text)
    except NotACondition as wrong:
        return Decided(problem=_said(wrong.message, wrong.hint))
    values = referenced(tree, context)
    try:
        return Decided(holds=evaluate(tree, context), values=values)
    except ConditionFailed as failed:
        return Decided(problem=_said(failed.message, failed.hint), values=values)


def _said(message: str, hint: str) -> str:
    return f"{message} ({hint})" if hint else message
