"""Transform: the requirements of the templates have no cycle, and give the order in which templates are planned."""

from __future__ import annotations

from ordito.base.diagnostics import Related
from ordito.instances.dependencies import targets_first
from ordito.model.service import Relationship
from ordito.planning.draft import Draft


def check_requirements(draft: Draft) -> None:
    """Refuse every cycle of requirements, by the names on it, a node that requires itself included."""
    draft.ordered = targets_first(draft.service)
    left = dict.fromkeys(draft.service.nodes)
    for node in draft.ordered:
        del left[node.name]
    while left:
        cycle = _cycle(draft, left)
        names = [r.source for r in cycle]
        for name in names:
            del left[name]
        _drop_dependents(draft, left)
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


def _cycle(draft: Draft, left: dict[str, None]) -> list[Relationship]:
    """A cycle among the templates that are left: each of them requires another one of them."""
    name = next(iter(left))
    seen: dict[str, int] = {}
    path: list[Relationship] = []
    while name not in seen:
        seen[name] = len(path)
        follow = next((r for r in draft.service.nodes[name].requirements if r.target in left), None)
        assert follow is not None
        path.append(follow)
        name = follow.target
    cycle = path[seen[name] :]
    start = min(range(len(cycle)), key=lambda i: cycle[i].source)
    return cycle[start:] + cycle[:start]


def _drop_dependents(draft: Draft, left: dict[str, None]) -> None:
    """Leave out templates that only depend on a cycle, so that each cycle is reported once."""
    open_names = [n for n in left if not any(r.target in left for r in draft.service.nodes[n].requirements)]
    while open_names:
        name = open_names.pop()
        if name not in left:
            continue
        del left[name]
        for relationship in draft.service.incoming.get(name, ()):
            source = relationship.source
            if source in left and not any(r.target in left for r in draft.service.nodes[source].requirements):
                open_names.append(source)
