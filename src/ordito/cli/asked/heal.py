"""What a command line may ask of `heal`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

TAKES_INPUTS = False

ABOUT = "What is made anew is the whole host of what is named, with all that is on it."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of a healing; the verb gets them as ``asked``."""

    @click.argument("names", metavar="INSTANCE...", nargs=-1, required=True)
    @click.option("--reinstall", is_flag=True, help="Make it anew without checking or mending it first.")
    @functools.wraps(function)
    def with_asked(*arguments: Any, names: tuple[str, ...], reinstall: bool, **others: Any) -> Any:
        from ordito.app.proposals.heal import HealAsked

        return function(*arguments, asked=HealAsked(names, reinstall), **others)

    return with_asked
