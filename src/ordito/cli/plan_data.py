"""A plan for programs, in the format that `docs/plan.md` describes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ordito.app.proposal import Proposal
from ordito.cli.channel import Channel
from ordito.cli.text_width import pad, printable, width
from ordito.model.choices import Choices
from ordito.planning.preview import PreviewStep, Totals, preview
from ordito.work.plan import Change, Plan

FORMAT = "ordito.plan/1"
"""The format and its version: new names may be added; a change of meaning gets a new number."""


def plan_data(proposal: Proposal, unfinished: str = "") -> dict[str, object]:
    """The plan for programs."""
    plan, shown = proposal.plan, preview(proposal.plan, existing=proposal.existing, on_host=proposal.setting.on_host)
    waves = {step.id: number for number, wave in enumerate(shown.waves, 1) for step in wave}
    steps = {step.id: step for wave in shown.waves for step in wave}
    return {
        "format": FORMAT,
        "service": proposal.service.name,
        "workflow": shown.workflow,
        "environment": proposal.setting.environment,
        "back_to": proposal.job.back_to or None,
        "changes": changes_data(shown.changes),
        "steps": [_step_data(plan, number, steps, waves) for number in range(len(plan.steps))],
        "edges": [
            {"before": plan.steps[before].id, "after": plan.steps[after].id, "reason": plan.reasons[reason]}
            for before, after, reason in plan.edges
        ],
        "waves": [[step.id for step in wave] for wave in shown.waves],
        "counts": {
            node: {"count": count, "origin": shown.origins.get(node, "")} for node, count in shown.counts.items()
        },
        "part": plan.summary.is_part,
        "left_out": changes_data(plan.summary.left_out),
        "made_by": dict(plan.summary.makers),
        "chosen": chosen_data(proposal.service.choices),
        "totals": msgspec.to_builtins(shown.totals),
        "held": msgspec.to_builtins(shown.held),
        "outages": msgspec.to_builtins(shown.outages),
        "warnings": list(shown.warnings),
        "unfinished": unfinished,
    }


def nothing_data(workflow: str, unfinished: str = "") -> dict[str, object]:
    """The plan of a workflow if nothing was ever deployed."""
    empty: dict[str, object] = {
        name: [] for name in ("changes", "steps", "edges", "waves", "chosen", "outages", "warnings")
    }
    totals = msgspec.to_builtins(Totals())
    return {
        "format": FORMAT,
        "service": "",
        "workflow": workflow,
        "back_to": None,
        **empty,
        "counts": {},
        "part": False,
        "left_out": [],
        "made_by": {},
        "totals": totals,
        "held": None,
        "unfinished": unfinished,
    }


def changes_data(changes: Sequence[Change]) -> list[dict[str, object]]:
    """The changes of a plan, for programs."""
    return [change_data(change) for change in changes]


def change_data(change: Change) -> dict[str, object]:
    """The change of one instance, for programs."""
    return {
        "symbol": change.symbol,
        "class": change.kind,
        "instance": change.instance,
        "reason": change.reason,
        "declared": change.declared,
        "differences": [
            {"what": d.what, "before": d.before, "after": d.after, "declared": d.declared} for d in change.differences
        ],
    }


def _step_data(plan: Plan, number: int, steps: dict[str, PreviewStep], waves: dict[str, int]) -> dict[str, object]:
    step = plan.steps[number]
    shown = steps.get(step.id)
    if shown is None:
        return {"id": step.id, "joins": True, "reason": plan.reasons[step.reason]}
    return {
        "id": shown.id,
        "wave": waves[shown.id],
        "instance": shown.instance,
        "operation": shown.operation,
        "far": shown.far,
        "runs_on": shown.runs_on,
        "artifact": shown.artifact,
        "condition": shown.condition,
        "no_op": shown.no_op,
        "delegated": shown.delegated,
        "reason": shown.reason,
        "declared": shown.declared,
        **({"hook": shown.hook, "phase": shown.phase} if shown.hook else {}),
    }


# What was chosen where a service leaves a choice, shown with the plan before anybody agrees to it (§5.8.2).

MOST_ROWS = 200


def write_chosen(choices: Choices, channel: Channel) -> None:
    """Each place with a choice, and what was chosen."""
    rows = [(row["for"], _said(row)) for row in chosen_data(choices)]
    if not rows:
        return
    channel.line("Chosen")
    names = max(width(name) for name, _ in rows[:MOST_ROWS])
    for name, said in rows[:MOST_ROWS]:
        channel.line(f"    {pad(printable(name), names)}  {printable(said)}")
    if len(rows) > MOST_ROWS:
        channel.line(f"    and {len(rows) - MOST_ROWS} more, see: -o json")


def chosen_data(choices: Choices) -> list[dict[str, str]]:
    """The same for programs: ``for`` a node, or a requirement of one, the ``topology`` that substitutes it or the
    existing ``node`` that is selected."""
    found = [{"for": name, "topology": file} for name, file in choices.substitutes.items()]
    found += [{"for": name, "node": selected.node} for name, selected in choices.selected.items()]
    return found + [{"for": name, "node": node} for name, node in choices.requirements.items()]


def _said(row: dict[str, str]) -> str:
    if "topology" in row:
        return f"substituted by the topology of {row['topology']}"
    return f'the existing node "{row["node"]}"'
