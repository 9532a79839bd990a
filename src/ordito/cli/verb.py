"""Declaring a verb: a function that gets a session and its own arguments, and returns an exit code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.help import VerbCommand
from ordito.cli.options import global_options, input_options, inputs_of, settings_of
from ordito.cli.places import ABOUT_STORE
from ordito.cli.session import Session
from ordito.cli.settings import COMMON_FORMATS, Format

Run = Callable[..., ExitCode]


def verb(
    name: str,
    help_text: str = "",
    *,
    takes_inputs: bool = False,
    formats: Sequence[Format] = COMMON_FORMATS,
    named: str = "",
) -> Callable[[Run], click.Command]:
    """Make a command of a function, with the options of all verbs; expected errors are explained. Its help is the
    docstring of the function, or ``help_text``.

    ``click.option`` and ``click.argument`` go below this decorator. With ``takes_inputs`` the function gets the values
    of inputs on the command line as ``inputs``. ``formats`` are those in which it can write its result; ``named`` is
    its name in messages and the manual, if ``name`` alone is not clear; anything after the name is shown only in
    messages.
    """

    page = name if named.startswith(f"{name} ") else named or name

    def decorate(function: Run) -> click.Command:
        @click.pass_context
        def run(context: click.Context, /, **arguments: Any) -> ExitCode:
            # What explains failures knows the rooms below, which help and a wrong command line do not need.
            from ordito.cli.failures import EXPECTED, check_place, interrupted, present
            from ordito.cli.waiting_notices import handle_afterwards

            inputs = inputs_of(context)
            if takes_inputs:
                arguments["inputs"] = inputs
            elif not inputs.is_empty:
                raise click.UsageError(f"{named or name} takes no values of inputs", context)
            settings = settings_of(context)
            if settings.output not in formats:
                raise click.UsageError(f"{name} writes {', '.join(formats)}, not {settings.output}", context)
            session = Session(settings, page)
            try:
                check_place(settings, page)
                if settings.wants_store and page not in ABOUT_STORE:
                    from ordito.cli.in_store import settings_in_store

                    session.settings = settings_in_store(settings, page)
                code = function(session, **arguments)
            except EXPECTED as error:
                code = present(error, session)
            except KeyboardInterrupt:
                code = interrupted(session)
            return session.closed(handle_afterwards(session, code))

        own = list(reversed(getattr(function, "__click_params__", [])))
        return VerbCommand(
            name,
            page=page,
            params=[*own, *(input_options() if takes_inputs else []), *global_options(formats)],
            callback=run,
            help=help_text or inspect.getdoc(function),
            context_settings={"help_option_names": ["-h", "--help"]},
        )

    return decorate
