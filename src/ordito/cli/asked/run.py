"""What a command line may ask of an operation that is run by hand."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from ordito.app.given_inputs import GivenInputs

TAKES_INPUTS = True

ABOUT = "OPERATION is INTERFACE.OPERATION, or its name alone where one interface only has it."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of a run; the verb gets them as ``asked``."""

    @click.argument("operation")
    @click.option("--node", "nodes", metavar="NODE", multiple=True, help="On instances of this node; may be repeated.")
    @click.option("--instance", "instances", metavar="ID", multiple=True, help="On this instance; may be repeated.")
    @click.option(
        "--type",
        "types",
        metavar="TYPE",
        multiple=True,
        help="On instances of nodes of this type, or of one derived from it; may be repeated.",
    )
    @click.option("--dependency-order", is_flag=True, help="First on what others depend on; else all at one time.")
    @click.option("--override", is_flag=True, help="Let -i and -I take the place of values that the template gives.")
    @functools.wraps(function)
    def with_asked(
        *arguments: Any,
        operation: str,
        nodes: tuple[str, ...],
        instances: tuple[str, ...],
        types: tuple[str, ...],
        dependency_order: bool,
        override: bool,
        inputs: GivenInputs,
        **others: Any,
    ) -> Any:
        from ordito.app.proposals.filters import InstanceFilters
        from ordito.app.proposals.run import RunAsked

        wanted = RunAsked(operation, InstanceFilters(nodes, instances, types), dependency_order, override, inputs)
        return function(*arguments, asked=wanted, **others)

    return with_asked
