"""What a blueprint says of its deployment as a whole: how it is shown, when its workflows are to begin, and which tags
its resources have (section 5). What needs a manager is checked, and has no effect."""

from __future__ import annotations

import re

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.cloudify.values import is_call
from ordito.lowering.making import text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import integer
from ordito.syntax.cloudify.blueprint import DeploymentSettings
from ordito.syntax.cloudify.yaml_values import truth

SCHEDULE = (
    *("workflow", "since", "until", "recurrence", "timezone", "weekdays", "count", "default_enabled"),
    *("stop_after_fail", "slip", "workflow_parameters", "execution_arguments"),
)
NEEDED = ("workflow", "since")
MOMENT = re.compile(r"(\d{4}-\d\d-\d\d )?\d\d?:\d\d|\+\d+ ?\w+( ?[+-]\d+ ?\w+)*")
WEEKDAYS = frozenset({"su", "mo", "tu", "we", "th", "fr", "sa"})
ARGUMENTS = ("allow_custom_parameters", "force", "is_dry_run", "wait_after_fail")
NUMBERS = frozenset({"count", "slip"})
FLAGS = frozenset({"default_enabled", "stop_after_fail"})
TAGS = "resource_tags"


def check_settings(written: DeploymentSettings | None, diagnostics: Diagnostics) -> None:
    """Report what is wrong with the settings of a deployment, and warn of those that have no effect."""
    if written is None:
        return
    for name in ("id_template", "default_groups", "default_schedules"):
        node = getattr(written, name)
        assert isinstance(written.at, Mapping)
        if node is not None:
            what = {"id_template": "the directory of an ensemble is its name"}.get(name, "only a manager has them")
            diagnostics.warning(
                "not-applied",
                f'"{name}" has no effect: {what}',
                written.at.key(name).span,
                hint="remove it, or leave it",
            )
    schedules = written.default_schedules
    for key, schedule in schedules.entries() if schedules is not None else ():
        _check_schedule(key, schedule, diagnostics)


def _check_schedule(name: Scalar, node: Node, diagnostics: Diagnostics) -> None:
    if not isinstance(node, Mapping):
        diagnostics.error("wrong-form", f'schedule "{name.text}" is a map', node.span)
        return
    for needed in NEEDED:
        if needed not in node.values:
            diagnostics.error("missing-keyname", f'schedule "{name.text}" lacks "{needed}"', name.span)
    for key, value in node.entries():
        if key.text not in SCHEDULE:
            diagnostics.unknown("unknown-keyname", "keyname of a schedule", key.text, key.span, SCHEDULE)
        elif wrong := _wrong(key.text, value):
            diagnostics.error("bad-value", f'"{key.text}" of schedule "{name.text}" {wrong}', value.span)


def _wrong(name: str, node: Node) -> str:
    """What is wrong with an entry of a schedule, "" for nothing."""
    single = node.text if isinstance(node, Scalar) else None
    if name in ("since", "until"):
        known = single is not None and MOMENT.fullmatch(single) is not None
        return "" if known else "is a time, such as 2024-01-31 12:30, 12:30 or +1d"
    if name == "weekdays":
        days = [n.text.lower() for n in node.items if isinstance(n, Scalar)] if isinstance(node, Sequence) else []
        known = bool(days) and all(day.lstrip("+-0123456789l") in WEEKDAYS for day in days)
        return "" if known else f"is a list of {', '.join(sorted(WEEKDAYS))}"
    if name in NUMBERS:
        return "" if single is not None and integer(single) is not None else "is a whole number"
    if name in FLAGS:
        return "" if truth(node) is not None else "is true or false"
    if name in ("workflow_parameters", "execution_arguments") and not isinstance(node, Mapping):
        return "" if is_null(node) else "is a map"
    if name == "execution_arguments" and isinstance(node, Mapping):
        strange = next((k.text for k in node.keys if k.text not in ARGUMENTS), "")
        return f"has no {strange}: there are {', '.join(ARGUMENTS)}" if strange else ""
    return ""


def tags_of(written: Mapping | None, diagnostics: Diagnostics) -> dict[str, Scalar]:
    """The tags of resources, as entries of metadata, where scripts find them. No provider is given any."""
    found: dict[str, Scalar] = {}
    if written is None or not written.keys:
        return found
    diagnostics.warning(
        "not-applied",
        "the tags of resources are told to scripts, and handed to no provider",
        written.keys[0].span,
        hint="set them in a script, or in the settings of the provider",
    )
    for key, node in written.entries():
        if isinstance(node, Scalar) and not is_null(node):
            found[f"{TAGS}.{key.text}"] = text(node.text, node, plain=False)
        elif not is_call(node):
            diagnostics.error("bad-value", f'the tag "{key.text}" is a text or a function', node.span)
    return found
