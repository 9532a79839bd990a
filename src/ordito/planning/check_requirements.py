"""Transform: the requirements of the templates have no cycle, and give the order in which templates are planned."""

from __future__ import annotations

from ordito.base.diagnostics import Related
from ordito.instances.dependencies import targets_first
from ordito.model.rules.weaving import requirement_cycles
from ordito.planning.draft import Draft


def check_requirements(draft: Draft) -> None:
    """Refuse every cycle of requirements, by the names on it, a node that requires itself included."""
    draft.ordered = targets_first(draft.service)
    if len(draft.ordered) == len(draft.service.nodes):
        return
    for cycle in requirement_cycles(draft.service.nodes, draft.service.incoming):
        names = [r.source for r in cycle]
        first = cycle[0]
        what = "requires itself" if len(cycle) == 1 else "are in a cycle of requirements"
        named = " and ".join(f'"{n}"' for n in sorted(set(names))) if len(cycle) < 3 else "nodes"
        path = " -> ".join([*names, names[0]])
        draft.diagnostics.error(
            "requirement-cycle",
            f"{named} {what}: {path}; none of them could ever be started",
            first.span,
            hint="remove one of these requirements",
            related=[Related(f"{r.source} requires {r.target} ({r.requirement})", r.span) for r in cycle if r.span],
        )
