"""Transform: no two node templates have the same shell-safe name, since instance ids are made from it."""

from __future__ import annotations

from ordito.planning.draft import Draft


def check_names(draft: Draft) -> None:
    """Refuse node names that differ only in characters that ids cannot have."""
    owners: dict[str, str] = {}
    for name, safe in draft.service.sanitised.items():
        other = owners.setdefault(safe, name)
        if other != name:
            draft.diagnostics.error(
                "same-instance-ids",
                f'nodes "{other}" and "{name}" would both have instances named "{safe}_1"',
                draft.service.nodes[name].span,
                hint="rename one of them: ids keep letters, digits and _ of a name",
            )
