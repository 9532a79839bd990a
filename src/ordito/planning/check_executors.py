"""A check of the finished steps: what runs on hosts that are not this machine needs an executor that reaches them."""

from __future__ import annotations

from ordito.planning.draft import Draft


def check_executors(draft: Draft) -> None:
    """Report every artifact that nobody processes on the hosts on which it is to run."""
    protocols = {n.name: p for n in draft.ordered if n.is_compute and (p := draft.recipes.protocol(n))}
    if not protocols:
        return
    seen: set[tuple[int, str]] = set()
    for step in draft.steps:
        if not step.runs_on or step.done or step.call < 0:
            continue
        node = draft.members[step.runs_on].template.name
        if node not in protocols or (step.call, node) in seen:
            continue
        seen.add((step.call, node))
        call = draft.calls.all[step.call]
        if call.artifact and call.processor and not draft.options.accepts_on((call.processor,), protocols[node]):
            draft.diagnostics.error(
                "no-executor",
                f'no executor processes "{call.artifact}" (artifact type {call.processor}) on "{node}", which is'
                f" reached by {protocols[node]}",
                draft.service.nodes[node].span,
                hint="have the operation run on the orchestrator (operation_host: ORCHESTRATOR), or use an"
                " implementation in Bash or Python",
            )
