"""What a command line may ask of a deployment."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ordito.app.given_choices import GivenChoices
from ordito.app.given_inputs import GivenInputs
from ordito.cli.options import allow_changed_option, allow_large_option, choice_options, fetch_option, force_option

if TYPE_CHECKING:
    from ordito.app.proposal import Asked
    from ordito.app.saved_plan import SavedAsked
    from ordito.cli.session import Session

TAKES_INPUTS = True

ABOUT = "SERVICE is needed where there is no ensemble yet. A saved plan in its place is shown."


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments of a deployment; the verb gets them as ``asked``."""

    @click.argument("service", required=False)
    @force_option
    @allow_changed_option
    @allow_large_option
    @fetch_option
    @choice_options
    @click.option(
        "--reset-counts",
        is_flag=True,
        help="Have as many instances as the template asks for, whatever was set by scale.",
    )
    @functools.wraps(function)
    def with_asked(  # noqa: PLR0913  (one for each thing that a command may say)
        *arguments: Any,
        service: str | None,
        inputs: GivenInputs,
        allow_large: bool,
        fetch: bool,
        force: bool,
        allow_changed: bool,
        choices: GivenChoices,
        reset_counts: bool,
        **others: Any,
    ) -> Any:
        from ordito.app.proposals.deploy import DeployAsked
        from ordito.app.saved_plan import is_saved_plan

        wanted: Asked = DeployAsked(
            service or "", inputs, allow_large, fetch, choices, force, allow_changed, reset_counts
        )
        if service is not None and is_saved_plan(service):
            wanted = _saved(service, inputs, arguments[0])
        return function(*arguments, asked=wanted, **others)

    return with_asked


DECIDING = ("force", "allow_large", "fetch", "inventory", "substitute", "allow_changed", "reset_counts")
"""The options that decide what is planned: a saved plan has been decided on."""


def _saved(path: str, inputs: GivenInputs, session: Session) -> SavedAsked:
    """The saved plan in a file. Raises ``click.UsageError`` for options that it takes no more, and ``Refused``."""
    from ordito.app.saved_plan import SavedAsked, read_saved_plan

    context = click.get_current_context()
    names = {p.name: p.opts[-1] for p in context.command.params if isinstance(p, click.Option)}
    given = [n for n in DECIDING if context.get_parameter_source(n) is click.core.ParameterSource.COMMANDLINE]
    refused = [names.get(name, name) for name in given]
    if not inputs.is_empty:
        refused.append("-i and -I")
    if session.settings.environment is not None:
        refused.append("--env")
    if refused:
        raise click.UsageError(
            f"{path} is a saved plan, which is carried out as it is: leave out {', '.join(refused)}, or plan again with"
            " it"
        )
    return SavedAsked(path, read_saved_plan(path))
