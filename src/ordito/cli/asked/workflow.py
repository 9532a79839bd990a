"""What a command line may ask of a workflow of the template."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from ordito.app.given_inputs import GivenInputs

TAKES_INPUTS = True

ABOUT = "NAME is a workflow of the template that is deployed; -i and -I give it its inputs."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of a run; the verb gets them as ``asked``."""

    @click.argument("name")
    @functools.wraps(function)
    def with_asked(*arguments: Any, name: str, inputs: GivenInputs, **others: Any) -> Any:
        from ordito.app.proposals.workflow import WorkflowAsked

        return function(*arguments, asked=WorkflowAsked(name, inputs), **others)

    return with_asked
