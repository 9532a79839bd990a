"""Workflows: one record for each, with what others have to know of it. ``planning/workflows.py`` says by name how each
is planned, ``app/proposals`` what a command may ask of it. Whoever has only the name, as in the records of jobs, asks
``workflow_of``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec


class WorkflowEffect(StrEnum):
    """What the jobs of a workflow may change in the records."""

    SHAPES = "it makes what exists: its operations count as applied, and its success is a new revision"
    ADJUSTS = "it changes how much exists or how it is, within the revision: its operations count as applied"
    LEAVES = "it sets node states, attributes and observed status, and nothing that says what was applied"


class Aim(StrEnum):
    """What a workflow is to bring about."""

    DESCRIPTION = "what runs is as a service says it now"
    REVISION = "what runs is as an earlier revision says it"
    NOTHING = "nothing is left"
    COUNT = "there are more or fewer instances of a node"
    HEALTH = "instances are ok again"
    STATE = "instances are started, stopped, or both"
    KNOWLEDGE = "the records say how things are"
    CALL = "an operation has been run"
    NOTICE = "peers know of a change"
    RECORD = "the records say something else of what exists"
    OWN = "what its author wants: it is a workflow of a template"


class Workflow(msgspec.Struct, frozen=True):
    """A workflow by its ``name``, and by the ``alias`` that the specification has for it (§7.1), "" for none.
    ``summary`` is a sentence for people, "" if it is no command by itself. ``prunes`` says when what is no longer in
    the template is removed by default: ``no``, or ``last``; "" if that does not apply. One that ``interrupts`` takes
    down instances that come up again. One that ``continues`` makes its plan from what exists, so that `jobs retry`
    plans what is left of it."""

    name: str
    aim: Aim = Aim.OWN
    effect: WorkflowEffect = WorkflowEffect.LEAVES
    summary: str = ""
    alias: str = ""
    prunes: str = ""
    interrupts: bool = False
    continues: bool = False

    @property
    def revises(self) -> bool:
        """Whether its jobs say what is deployed: their service, inputs and counts become the ensemble's."""
        return self.effect is WorkflowEffect.SHAPES

    @property
    def applies(self) -> bool:
        """Whether the operations of its jobs count as applied to their instances."""
        return self.effect is not WorkflowEffect.LEAVES

    @property
    def describes(self) -> bool:
        """Whether it brings what runs to what a service says now."""
        return self.aim is Aim.DESCRIPTION

    @property
    def goes_back(self) -> bool:
        """Whether it brings what runs to what an earlier revision says."""
        return self.aim is Aim.REVISION

    @property
    def forms(self) -> bool:
        """Whether it brings instances into the form that a service describes, now or before."""
        return self.describes or self.goes_back

    @property
    def removes(self) -> bool:
        """Whether it removes everything."""
        return self.aim is Aim.NOTHING

    @property
    def scales(self) -> bool:
        """Whether it changes how many instances there are."""
        return self.aim is Aim.COUNT

    @property
    def heals(self) -> bool:
        """Whether it repairs instances that are not ok."""
        return self.aim is Aim.HEALTH

    @property
    def looks(self) -> bool:
        """Whether it only finds out how things are."""
        return self.aim is Aim.KNOWLEDGE

    @property
    def calls(self) -> bool:
        """Whether it runs an operation that the user names."""
        return self.aim is Aim.CALL

    @property
    def keeps_inputs(self) -> bool:
        """Whether the record of its jobs keeps the inputs with which operations were called: if they are not what the
        template says, as with operations that a user or a template's workflow calls."""
        return self.aim in (Aim.CALL, Aim.OWN)


DEPLOY, UPGRADE, ROLLBACK, UNDEPLOY = "deploy", "upgrade", "rollback", "undeploy"
SCALE, RUN = "scale", "run"

# How `upgrade` differs from `deploy`: both plan the same (``planning.workflows.TO_A_DESCRIPTION``) by the same request,
# but for two fields of its class. `deploy` makes an ensemble where there is none, keeps the service that the ensemble
# has (``_to_deploy`` of ``app.proposals.description``), leaves orphans (``prunes``), and runs the workflow of that name
# that a template declares; `upgrade` needs something deployed, takes the service that it names (``_to_upgrade_to``),
# removes orphans last, and refuses a template with a workflow "deploy" of its own.
_SHAPES, _ADJUSTS = WorkflowEffect.SHAPES, WorkflowEffect.ADJUSTS
_ALL = (
    Workflow(
        DEPLOY,
        Aim.DESCRIPTION,
        _SHAPES,
        "Bring the running system to its description.",
        alias="install",
        prunes="no",
        interrupts=True,
        continues=True,
    ),
    Workflow(
        UPGRADE,
        Aim.DESCRIPTION,
        _SHAPES,
        "Change what runs into what a service says now.",
        prunes="last",
        interrupts=True,
        continues=True,
    ),
    Workflow(ROLLBACK, Aim.REVISION, _SHAPES, "Go back to an earlier revision.", interrupts=True, continues=True),
    Workflow(UNDEPLOY, Aim.NOTHING, _SHAPES, "Remove everything that was deployed.", alias="uninstall", continues=True),
    Workflow("start", Aim.STATE, _ADJUSTS, "Start what was stopped."),
    Workflow("stop", Aim.STATE, _ADJUSTS, "Stop instances, those that depend on them first."),
    Workflow("restart", Aim.STATE, _ADJUSTS, "Stop and start instances.", interrupts=True),
    Workflow("heal", Aim.HEALTH, _ADJUSTS, "Repair instances that are not ok."),
    Workflow(SCALE, Aim.COUNT, _ADJUSTS, "Change the number of instances of a node.", continues=True),
    Workflow(RUN, Aim.CALL, summary="Run one operation on all instances, or on chosen ones."),
    Workflow("check", Aim.KNOWLEDGE, summary="Check whether what exists is as recorded."),
    Workflow("discover", Aim.KNOWLEDGE, summary="Find out what exists, and record it."),
    Workflow("tell", Aim.NOTICE),
    Workflow("notify", Aim.NOTICE),
    Workflow("state mv", Aim.RECORD, _SHAPES),
    Workflow("state adopt", Aim.RECORD, _SHAPES),
    Workflow("state rm", Aim.RECORD),
    Workflow("state forget", Aim.RECORD),
)
WORKFLOWS: Mapping[str, Workflow] = {workflow.name: workflow for workflow in _ALL}
"""All of them, by name; any other is a workflow of a template."""

ALIASES: Mapping[str, str] = {workflow.alias: workflow.name for workflow in _ALL if workflow.alias}
"""The names of workflows by the names that the specification has for them (§7.1)."""


def workflow_of(name: str) -> Workflow:
    """The workflow of a job, by its name; one of a template where there is none of that name."""
    return WORKFLOWS.get(name) or Workflow(name)


NAMED = "workflow "
"""The prefix of the workflow name of a job that ran a template's workflow; its own name follows, which may be that of
another."""


def is_written(workflow: str) -> bool:
    """Whether a job's workflow is one of the template, run by its own name."""
    return workflow.startswith(NAMED)
