"""What a command line may ask of a removal."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from ordito.app.given_part import GivenPart
from ordito.cli.options import allow_changed_option, force_option, part_options

TAKES_INPUTS = False

ABOUT = "What was deployed last is removed, by the files as they were then."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of a removal; the verb gets them as ``asked``."""

    @force_option
    @click.option("--include-protected", is_flag=True, help="Remove what is protected too (ordito.protected).")
    @click.option("--include-unmanaged", is_flag=True, help="Remove what this ensemble did not create too.")
    @allow_changed_option
    @part_options(verb="Remove", makes=False)
    @functools.wraps(function)
    def with_asked(
        *arguments: Any,
        force: bool,
        include_protected: bool,
        include_unmanaged: bool,
        allow_changed: bool,
        part: GivenPart,
        **others: Any,
    ) -> Any:
        from ordito.app.proposals.undeploy import UndeployAsked

        wanted = UndeployAsked(force, include_protected, include_unmanaged, allow_changed, part)
        return function(*arguments, asked=wanted, **others)

    return with_asked
