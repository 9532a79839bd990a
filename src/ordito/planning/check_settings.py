"""Transform: settings in the metadata of node templates that planning uses have values that make sense."""

from __future__ import annotations

from ordito.planning.draft import Draft
from ordito.planning.freeze import CONCURRENCY

MOST_PLACES = 10_000


def check_settings(draft: Draft) -> None:
    """Refuse a number of concurrent operations that is none."""
    for node in draft.service.nodes.values():
        written = node.metadata.get(CONCURRENCY)
        if written is None:
            continue
        if not (
            written.isascii() and written.isdecimal() and 1 <= int(written[:9]) <= MOST_PLACES and len(written) < 9
        ):
            draft.diagnostics.error(
                "bad-setting",
                f'{CONCURRENCY} of node "{node.name}" is "{written}", and it is a whole number from 1 to {MOST_PLACES}',
                node.span,
                hint=f"write metadata: {{{CONCURRENCY}: '2'}}",
            )
