"""What a command line may ask of the workflows that bring the system to a description."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ordito.app.given_inputs import GivenInputs
from ordito.cli.change_options import change_options, hook_options
from ordito.cli.options import (
    allow_changed_option,
    allow_large_option,
    choice_options,
    fetch_option,
    force_option,
    part_options,
)
from ordito.cli.settings import PROGRAM

if TYPE_CHECKING:
    from ordito.app.proposal import Asked
    from ordito.app.proposals.to_a_description import ToDescriptionAsked
    from ordito.app.saved_plan import SavedAsked
    from ordito.cli.session import Session

FIELDS = ("allow_large", "fetch", "choices", "force", "allow_changed", "reset_counts", "changes", "hooks", "part")
"""What the options below give, as ``ToDescriptionAsked`` calls it."""


def describing(
    kind: Callable[[], type[ToDescriptionAsked]], *, metavar: str, prunes: str, reads_plans: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The arguments of such a workflow; the verb gets them as ``asked``. ``kind`` gives the class of what is asked,
    which knows rooms that help does not need. With ``reads_plans`` the service may be a saved plan."""

    def asked(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.argument("service", metavar=metavar, required=False)
        @force_option
        @allow_changed_option
        @allow_large_option
        @fetch_option
        @choice_options
        @change_options(prunes=prunes)
        @hook_options
        @part_options(verb="Bring to its description", makes=True)
        @click.option(
            "--forget-input",
            "forgotten",
            metavar="INPUT",
            multiple=True,
            help="Remember no more what an earlier command has given for this input; may be repeated.",
        )
        @click.option(
            "--reset-counts",
            is_flag=True,
            help="Have as many instances as the template asks for, whatever was set by scale.",
        )
        @functools.wraps(function)
        def with_asked(*arguments: Any, service: str | None, inputs: GivenInputs, **others: Any) -> Any:
            from ordito.app.saved_plan import is_saved_plan

            given = {name: others.pop(name) for name in FIELDS}
            inputs = msgspec.structs.replace(inputs, forgotten=tuple(others.pop("forgotten")))
            if both := inputs.texts.keys() & set(inputs.forgotten):
                raise click.UsageError(f"-i and --forget-input of {', '.join(sorted(both))} exclude each other")
            wanted: Asked = kind()(service or "", inputs, **given)
            if service is not None and is_saved_plan(service):
                if not reads_plans:
                    raise click.UsageError(f"{service} is a saved plan: `{PROGRAM} apply {service}` carries it out")
                wanted = _saved(service, inputs, arguments[0])
            return function(*arguments, asked=wanted, **others)

        return with_asked

    return asked


DECIDING = (
    "force",
    "allow_large",
    "fetch",
    "inventory",
    "substitute",
    "allow",
    "allow_changed",
    "reset_counts",
    "prune",
    "no_prune",
    "replaced",
    "max_unavailable",
    "skip_heal",
    "checks",
    "may_lose",
    "which",
    "catalogs",
    "lifecycle",
    "strict",
    "nodes",
    "instances",
    "skip_new",
    "forgotten",
)
"""The options that decide what is planned: a saved plan has been decided on."""


def _saved(path: str, inputs: GivenInputs, session: Session) -> SavedAsked:
    """The saved plan in a file. Raises ``click.UsageError`` for options that it takes no more, and ``Refused``."""
    from ordito.app.saved_plan import SavedAsked, read_saved_plan

    context = click.get_current_context()
    names = {p.name: p.opts[-1] for p in context.command.params if isinstance(p, click.Option)}
    names |= {p.name: p.opts[0] for p in context.command.params if isinstance(p, click.Option) and p.opts}
    given = [n for n in DECIDING if context.get_parameter_source(n) is click.core.ParameterSource.COMMANDLINE]
    refused = [str(names.get(name, name)) for name in given]
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
