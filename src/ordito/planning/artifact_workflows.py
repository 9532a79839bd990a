"""Workflows that an artifact implements, as one step of a plan (§7.3.8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ordito.model.imperative import Workflow
from ordito.model.operation import Artifact
from ordito.planning.draft import Draft
from ordito.planning.members import DraftStep
from ordito.work.plan import PROCESSES, SCRIPTS, WORKFLOW, Action, OperationCall

Accepts = Callable[[Sequence[str]], bool]


def processor_of(artifact: Artifact, accepts: Accepts) -> str:
    """What is asked to carry out a workflow: a processor of workflows for the nearest type of its artifact, else what
    runs scripts; "" where nobody can."""
    named = (f"{PROCESSES}{kind}" for kind in artifact.kinds)
    scripts = (kind for kind in artifact.kinds if kind in SCRIPTS)
    return next((kind for kind in (*named, *scripts) if accepts((kind,))), "")


def external(
    draft: Draft, workflow: Workflow, name: str, scope: int, reason: int, *, after_failure: bool = False
) -> int:
    """Add the step that carries out a workflow as a whole; gives its number."""
    artifact = workflow.implementation
    assert artifact is not None
    processor = processor_of(artifact, draft.options.abilities.accepts)
    if not processor:
        draft.diagnostics.error(
            "no-processor",
            f'nothing here carries out workflow "{workflow.name}": {artifact.file} is of type {artifact.kinds[0]}',
            workflow.span,
            hint="install a processor for it (docs/plugins.md), or write it in steps or as a script",
        )
    call = OperationCall(
        owner="",
        side="",
        interface=WORKFLOW,
        operation=workflow.name,
        artifact=artifact.file,
        processor=processor,
        dependencies=tuple(d.file for d in workflow.dependencies),
        outputs=tuple(workflow.outputs),
        timeout=workflow.timeout,
        declared=str(workflow.span) if workflow.span is not None else "",
        scope=scope,
        version=artifact.version,
    )
    step = DraftStep(name, Action.WORKFLOW, call=draft.calls.put(call), after_failure=after_failure, reason=reason)
    return draft.add(step)
