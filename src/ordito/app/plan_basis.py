"""By what a plan is known again: what it depends on, and what it does, as digests."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class PlanBasis(msgspec.Struct, frozen=True):
    """What a plan depends on, mostly as digests."""

    state: str
    """Of all records of the ensemble, "" for none."""

    job: str
    """The job that wrote these records."""

    user: str
    """Of the user's part and everything merged into it."""

    environment: str
    """The name of the chosen environment."""

    service: str
    """Of the service's files together."""

    contents: Mapping[str, str]
    """Of each of these files."""

    inputs: Mapping[str, str]
    """Of the topology inputs, by name."""

    choices: str
    """Of what was chosen where the service leaves a choice."""

    hosts: str = ""
    """The path of the inventory that the command named, relative to the ensemble, "" for none."""

    inventory: str = ""
    """Of the inventory that was used."""


class ExactPlan(msgspec.Struct, frozen=True):
    """A plan that is to be carried out as it was seen."""

    basis: PlanBasis
    """What it depends on."""

    digest: str
    """What it does, see ``plan_digest``."""
