"""What a command line may ask of the workflows that look at instances."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click


def looking(workflow: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The arguments of such a workflow; the verb gets them as ``asked``."""

    def asked(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.argument("names", metavar="[NODE|INSTANCE]...", nargs=-1)
        @functools.wraps(function)
        def with_asked(*arguments: Any, names: tuple[str, ...], **others: Any) -> Any:
            from ordito.app.proposals.look import LookAsked

            return function(*arguments, asked=LookAsked(workflow, names), **others)

        return with_asked

    return asked
