"""What a job's workflow may change in the records, by the workflow's name: the one table that decides it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Effect(StrEnum):
    """What the jobs of a workflow are for."""

    SHAPES = "it makes what exists: its operations count as applied, and its success is a new revision"
    ADJUSTS = "it changes how much exists or how it is, within the revision: its operations count as applied"
    LEAVES = "it sets node states, attributes and observed status, and nothing that says what was applied"


EFFECTS: Mapping[str, Effect] = {
    "deploy": Effect.SHAPES,
    "undeploy": Effect.SHAPES,
    "upgrade": Effect.SHAPES,
    "rollback": Effect.SHAPES,
    "scale": Effect.ADJUSTS,
    "heal": Effect.ADJUSTS,
    "start": Effect.ADJUSTS,
    "stop": Effect.ADJUSTS,
    "restart": Effect.ADJUSTS,
    "check": Effect.LEAVES,
    "discover": Effect.LEAVES,
    "run": Effect.LEAVES,
    "tell": Effect.LEAVES,
    "notify": Effect.LEAVES,
    "state mv": Effect.SHAPES,
    "state adopt": Effect.SHAPES,
    "state rm": Effect.LEAVES,
    "state forget": Effect.LEAVES,
}


def effect_of(workflow: str) -> Effect:
    """The effect of a workflow; one that is not in the table was written by the user, and leaves what was applied."""
    return EFFECTS.get(workflow, Effect.LEAVES)


def keeps_inputs(workflow: str) -> bool:
    """Whether the record of the workflow's jobs tells with which inputs operations were called: where they are not what
    the template says, as in what somebody has called or has written."""
    return workflow == "run" or workflow not in EFFECTS


def revises(workflow: str) -> bool:
    """Whether the workflow's jobs say what is deployed: their service, inputs and counts become the ensemble's."""
    return effect_of(workflow) is Effect.SHAPES


def applies(workflow: str) -> bool:
    """Whether the operations of the workflow's jobs count as applied to their instances."""
    return effect_of(workflow) is not Effect.LEAVES
