"""How many instances node templates have, as far as that is known before anything is planned (§2.20)."""

from __future__ import annotations

from ordito.base.diagnostics import Diagnostics
from ordito.model.facts import Facts, Unknown
from ordito.model.templates import Templates


def check_counts(templates: Templates, facts: Facts, diagnostics: Diagnostics) -> None:
    """Check each ``instance_count`` against the ``occurrences`` of its template."""
    for node in templates.nodes.values():
        written = templates.written[node.name].instance_count if node.name in templates.written else None
        if written is None or node.instance_count is None:
            continue
        count = facts.of(node.instance_count, node)
        if isinstance(count, Unknown | bool) or not isinstance(count, int):
            continue  # what is of another type has been reported
        low, high = node.occurrences or (0, None)
        if count < 0:
            diagnostics.error(
                "bad-count",
                f'node template "{node.name}" cannot have {count} instances',
                written.span,
                hint="give a whole number from 0 on",
            )
        elif count < low or (high is not None and count > high):
            bounds = f"[{low}, {'UNBOUNDED' if high is None else high}]"
            diagnostics.error(
                "count-out-of-bounds",
                f'node template "{node.name}" has {count} instances, and its occurrences are {bounds}',
                written.span,
                hint="change one of the two",
            )
