"""Plans that earlier versions have written, as plain data: there all fields of a plan, and of a step, are side by
side."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.work.plan import StepCondition

_STEP = {
    "flow": {
        "condition": "condition",
        "gate": "gate",
        "tolerant": "after_failure",
        "barrier": "barrier",
        "optional": "optional",
        "dispensable": "non_blocking",
    },
    "effect": {
        "enter": "enter",
        "leave": "leave",
        "opens": "opens",
        "closes": "closes",
        "anew": "replaces",
        "counts": "counts",
        "forms": "forms",
    },
}

_PLAN = {
    "counts": {"counts": "wanted", "origins": "origins", "kept_counts": "kept"},
    "records": {
        "instances": "new",
        "absent": "absent",
        "older": "older",
        "adopted": "adopted",
        "moved": "moved",
        "observed": "observed",
    },
    "summary": {
        "warnings": "warnings",
        "kept": "kept",
        "drifted": "drifted",
        "outages": "outages",
        "losing": "losing",
        "lost_if": "lost_if",
        "makers": "makers",
        "is_part": "is_part",
        "left_out": "left_out",
    },
}
"""By group, the fields that have moved into it, each with its name there."""


_CONDITIONS = {
    "only if the far end, which is optional, is up": StepCondition.IF_FAR_IS_UP.value,
    "only if the far end has changed": StepCondition.IF_CHANGED.value,
}
"""The former names of conditions."""


def step_of_former(step: Mapping[str, object]) -> dict[str, object]:
    """A step in the present format (``work.plan.Step``), from a former one."""
    condition = step.get("condition")
    known = {**step, "condition": _CONDITIONS[str(condition)]} if condition in _CONDITIONS else step
    return _grouped(known, _STEP)


def plan_of_former(plan: Mapping[str, object]) -> dict[str, object]:
    """A plan in the present format (``work.plan.Plan``), from a former one; its steps stay as they are."""
    return _grouped(plan, _PLAN)


def _grouped(before: Mapping[str, object], groups: Mapping[str, Mapping[str, str]]) -> dict[str, object]:
    moved = {name for names in groups.values() for name in names}
    found = {name: value for name, value in before.items() if name not in moved}
    for group, names in groups.items():
        if values := {names[name]: before[name] for name in names if name in before}:
            found[group] = values
    return found
