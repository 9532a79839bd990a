"""What a command line may ask of a deployment."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from ordito.app.given_choices import GivenChoices
from ordito.app.given_inputs import GivenInputs
from ordito.cli.options import allow_changed_option, allow_large_option, choice_options, fetch_option, force_option

TAKES_INPUTS = True

ABOUT = "SERVICE is needed where there is no ensemble yet."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of a deployment; the verb gets them as ``asked``."""

    @click.argument("service", required=False)
    @force_option
    @allow_changed_option
    @allow_large_option
    @fetch_option
    @choice_options
    @functools.wraps(function)
    def with_asked(
        *arguments: Any,
        service: str | None,
        inputs: GivenInputs,
        allow_large: bool,
        fetch: bool,
        force: bool,
        allow_changed: bool,
        choices: GivenChoices,
        **others: Any,
    ) -> Any:
        from ordito.app.proposals.deploy import DeployAsked

        wanted = DeployAsked(service or "", inputs, allow_large, fetch, choices, force, allow_changed)
        return function(*arguments, asked=wanted, **others)

    return with_asked
