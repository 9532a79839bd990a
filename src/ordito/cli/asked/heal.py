"""What a command line may ask of `heal`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from ordito.cli.options import allow_changed_option, data_loss_option

AUTO, SCOPES = "auto", ("auto", "instance", "host")

TAKES_INPUTS = False

ABOUT = "What was deployed last is healed; the service is not read anew."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of a healing; the verb gets them as ``asked``."""

    @click.argument("names", metavar="INSTANCE...", nargs=-1, required=True)
    @click.option(
        "--scope",
        type=click.Choice(SCOPES),
        default=AUTO,
        show_default=True,
        help="How far to go: to its host where that is not ok itself, never to it, or to the whole host at once.",
    )
    @click.option("--reinstall", is_flag=True, help="Make it anew without checking, mending or restarting it first.")
    @data_loss_option
    @allow_changed_option
    @functools.wraps(function)
    def with_asked(
        *arguments: Any,
        names: tuple[str, ...],
        scope: str,
        reinstall: bool,
        may_lose: tuple[str, ...],
        allow_changed: bool,
        **others: Any,
    ) -> Any:
        from ordito.app.proposals.heal import HealAsked

        return function(*arguments, asked=HealAsked(names, reinstall, scope, may_lose, allow_changed), **others)

    return with_asked
