"""Transform: what runs on this machine finds the version of its interpreter there (§13.2.4).

Of other hosts nobody knows that before they are reached; there it is looked for when the operation is to begin.
"""

from __future__ import annotations

from ordito.planning.draft import Draft
from ordito.work.plan import Action


def check_interpreters(draft: Draft) -> None:
    """Refuse operations whose interpreter this machine does not have in the version that they ask for."""
    asking = {number for number, call in enumerate(draft.calls.all) if call.version}
    if not asking:
        return
    here: set[int] = set()
    for step in draft.steps:
        if step.call in asking and step.call not in here and step.action is not Action.JOIN and not step.done:
            compute = draft.members.get(step.runs_on)
            if compute is None or not draft.recipes.protocol(compute.template):
                here.add(step.call)
    said: set[tuple[str, str]] = set()
    for number in sorted(here):
        call = draft.calls.all[number]
        why = draft.options.lacking(call.processor, call.version)
        if why and (call.artifact, why) not in said:
            said.add((call.artifact, why))
            draft.diagnostics.error(
                "no-interpreter",
                f'"{call.artifact}" cannot be run: {why}',
                draft.calls.asking.get((call.artifact, call.version)),
                hint="install it, or write another artifact_version (docs/artifacts.md says what each means)",
            )
