"""What a command line may ask of going back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from ordito.base.portion import ALL, Portion
from ordito.cli.change_options import MAX_UNAVAILABLE, PortionType
from ordito.cli.options import allow_changed_option, data_loss_option

TAKES_INPUTS = False

ABOUT = "Without REVISION it leads to the last complete one if something was begun since, else to the one before it."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of going back; the verb gets them as ``asked``."""

    @click.argument("revision", type=click.IntRange(min=1), required=False)
    @click.option("--strict", is_flag=True, help="Refuse where not all can be taken back, before anything runs.")
    @click.option(
        "--max-unavailable",
        type=PortionType(),
        metavar="N|P%",
        default=ALL,
        help=MAX_UNAVAILABLE,
    )
    @click.option(
        "--without-steps",
        is_flag=True,
        help="Go back though lifecycle steps of the revision were undone since; they are not carried out again.",
    )
    @data_loss_option
    @allow_changed_option
    @functools.wraps(function)
    def with_asked(
        *arguments: Any,
        revision: int | None,
        strict: bool,
        max_unavailable: Portion,
        allow_changed: bool,
        without_steps: bool,
        may_lose: tuple[str, ...],
        **others: Any,
    ) -> Any:
        from ordito.app.proposals.rollback import RollbackAsked

        wanted = RollbackAsked(revision or 0, strict, allow_changed, max_unavailable, without_steps, may_lose)
        return function(*arguments, asked=wanted, **others)

    return with_asked
