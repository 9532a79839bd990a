"""The options about how what runs is changed, and about lifecycle steps and their blocks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from ordito.app.given_changes import GivenChanges, GivenHooks
from ordito.base.portion import ALL, Portion, portion_of
from ordito.cli.options import data_loss_option

F = TypeVar("F", bound=Callable[..., Any])

NO = "no"


class PortionType(click.ParamType):  # type: ignore[type-arg]  # (not generic when it runs)
    """A number of instances, or how many of a hundred."""

    name = "portion"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Portion:
        """The portion."""
        found = value if isinstance(value, Portion) else portion_of(str(value))
        if found is None:
            self.fail(f'"{value}" is neither a number of instances from 1 on nor a percentage such as 25%', param, ctx)
        return found


def catalog_option(function: F) -> F:
    """The option of verbs that look for blocks; the verb gets the paths as ``catalogs``."""
    return click.option(
        "--catalog",
        "catalogs",
        metavar="PATH",
        multiple=True,
        help="A catalogue of blocks, a folder or an archive, before those that are found anyway; may be repeated.",
    )(function)


def lifecycle_option(function: F) -> F:
    """The option of verbs that read a service with its lifecycle steps."""
    return click.option(
        "--lifecycle",
        metavar="FILE",
        default="",
        help="A file that declares lifecycle steps, in place of the one beside the service.",
    )(function)


def step_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of verbs that only look at a service with its lifecycle steps; the verb gets them as ``hooks``."""

    @functools.wraps(function)
    def with_steps(*arguments: Any, catalogs: tuple[str, ...], lifecycle: str, **others: Any) -> Any:
        return function(*arguments, hooks=GivenHooks(catalogs=catalogs, lifecycle=lifecycle), **others)

    return catalog_option(lifecycle_option(with_steps))


MAX_UNAVAILABLE = (
    "So many instances of a node may be down at one time, if it says nothing else (default: where all would be, one of"
    " up to seven, else a quarter; 100%: all)."
)
"""What help says of the option by which instances take turns."""


def hook_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of verbs that carry out lifecycle steps; the verb gets them as ``hooks``."""

    @functools.wraps(function)
    def with_hooks(*arguments: Any, which: str, catalogs: tuple[str, ...], lifecycle: str, **others: Any) -> Any:
        strict = bool(others.pop("strict"))
        return function(*arguments, hooks=GivenHooks(which, catalogs, lifecycle, strict), **others)

    decorated = click.option(
        "--strict",
        is_flag=True,
        help="Refuse a lifecycle step that asks for a rollback where something before it cannot be undone.",
    )(with_hooks)
    decorated = click.option(
        "--hooks",
        "which",
        type=click.Choice(["changed", "all", "none"]),
        default="changed",
        show_default=True,
        help="The lifecycle steps that are carried out: those of what changes, all, or none.",
    )(decorated)
    return catalog_option(lifecycle_option(decorated))


def change_options(*, prunes: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of verbs that change what runs; the verb gets them as ``changes``. ``prunes`` is what help says of
    what becomes of nodes that the template has lost, where nothing else is asked for."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def with_changes(
            *arguments: Any,
            prune: str | None,
            no_prune: bool,
            replaced: tuple[str, ...],
            max_unavailable: Portion,
            skip_heal: bool,
            may_lose: tuple[str, ...],
            checks: bool,
            **others: Any,
        ) -> Any:
            if prune and no_prune:
                raise click.UsageError("--prune and --no-prune exclude each other")
            if checks and skip_heal:
                raise click.UsageError("--check and --skip-heal exclude each other")
            when = NO if no_prune else prune or ""
            changes = GivenChanges(when, replaced, max_unavailable, skip_heal, may_lose, checks)
            return function(*arguments, changes=changes, **others)

        decorated = data_loss_option(with_changes)
        decorated = click.option(
            "--check", "checks", is_flag=True, help="Check first what is to stay as it is, and repair what is not ok."
        )(decorated)
        decorated = click.option(
            "--skip-heal", is_flag=True, help="Change also what is not as it should be without mending it first."
        )(decorated)
        decorated = click.option(
            "--max-unavailable",
            type=PortionType(),
            metavar="N|P%",
            default=ALL,
            help=MAX_UNAVAILABLE,
        )(decorated)
        decorated = click.option(
            "--replace",
            "replaced",
            metavar="NODE",
            multiple=True,
            help="Make the instances of this node anew, though that need not be; may be repeated.",
        )(decorated)
        decorated = click.option("--no-prune", is_flag=True, help="Keep what the template has lost.")(decorated)
        return click.option(
            "--prune",
            type=click.Choice(["last", "early"]),
            help=f"When what the template has lost is removed: when all else has succeeded, or first ({prunes}).",
        )(decorated)

    return decorate
