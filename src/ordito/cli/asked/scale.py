"""What a command line may ask of scaling."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from ordito.cli.options import allow_changed_option, allow_large_option

TAKES_INPUTS = False

ABOUT = "What was deployed last is scaled; it is not read anew."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of scaling; the verb gets them as ``asked``."""

    @click.argument("names", metavar="NODE|NODE=N...", nargs=-1)
    @click.option("--node-id", metavar="NODE", help="The same as the argument NODE.")
    @click.option(
        "--delta",
        type=int,
        metavar="D",
        help="So many instances more, or fewer if negative (default: the increment of a scaling policy, else 1).",
    )
    @click.option(
        "--scale-compute/--no-scale-compute",
        default=True,
        show_default=True,
        help="Scale the Compute that contains a node, with all that it contains, or the node by itself.",
    )
    @click.option("--remove", metavar="INSTANCE", multiple=True, help="An instance that is to leave; may be repeated.")
    @click.option("--include-protected", is_flag=True, help="Remove what is protected too (ordito.protected).")
    @click.option("--include-unmanaged", is_flag=True, help="Remove what this ensemble did not create too.")
    @allow_changed_option
    @allow_large_option
    @functools.wraps(function)
    def with_asked(  # noqa: PLR0913  (one for each thing that a command may say)
        *arguments: Any,
        names: tuple[str, ...],
        node_id: str | None,
        delta: int | None,
        scale_compute: bool,
        remove: tuple[str, ...],
        include_protected: bool,
        include_unmanaged: bool,
        allow_changed: bool,
        allow_large: bool,
        **others: Any,
    ) -> Any:
        from ordito.app.proposals.scale import ScaleAsked

        counts, plain = _split((*names, *([node_id] if node_id else [])))
        if not counts and not plain:
            raise click.UsageError("say what to scale: a node or a group, as in web --delta 1, or web=3")
        if counts and delta is not None:
            raise click.UsageError("--delta is for nodes without a number: give web --delta 1, or web=3")
        wanted = ScaleAsked(
            plain,
            counts,
            delta,
            scale_compute,
            remove,
            include_protected,
            include_unmanaged,
            allow_changed,
            allow_large,
        )
        return function(*arguments, asked=wanted, **others)

    return with_asked


def _split(words: tuple[str, ...]) -> tuple[dict[str, int], tuple[str, ...]]:
    """The nodes with a number, and those without one. Raises ``click.UsageError`` for what is no number."""
    counts: dict[str, int] = {}
    plain: list[str] = []
    for word in words:
        name, equals, number = word.rpartition("=")
        if not equals and word.isdecimal() and plain:
            raise click.UsageError(f'"{word}" is no node: write the number with its node, as in {plain[-1]}={word}')
        if not equals:
            plain.append(word)
        elif not name or not number.isdecimal() or len(number) > MOST_DIGITS:
            raise click.UsageError(f'"{word}" is no NODE=N with a whole number of instances from 0 on')
        elif name in counts:
            raise click.UsageError(f'"{name}" is given twice')
        else:
            counts[name] = int(number)
    return counts, tuple(plain)


MOST_DIGITS = 9
