"""`ordito compile`."""

from __future__ import annotations

import click

from ordito.app.given_changes import GivenHooks
from ordito.app.given_choices import GivenChoices
from ordito.cli.change_options import step_options
from ordito.cli.delivery import deliver, out_option
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import choice_options, fetch_option
from ordito.cli.session import Session
from ordito.cli.settings import Format
from ordito.cli.verb import verb

HELP = """Write the resolved model of SERVICE as JSON, or with -o yaml as YAML.

Every type is flattened, every name in full, every default in its place and every requirement bound; what only the
running system knows stays a function call. The same service always gives the same bytes. The fields are described in
docs/compiled.md."""


@verb("compile", HELP)
@click.argument("service", required=False)
@click.option("--positions", is_flag=True, help="Say where everything stands, as file:line:column.")
@click.option("--values-only", is_flag=True, help="Leave out what types say about properties and attributes.")
@out_option
@fetch_option
@choice_options
@step_options
def command(  # noqa: PLR0913  (one for each option)
    session: Session,
    service: str | None,
    out: str,
    *,
    positions: bool,
    values_only: bool,
    fetch: bool,
    choices: GivenChoices,
    hooks: GivenHooks,
) -> ExitCode:
    """Compile a service."""
    import msgspec

    from ordito.app.compile import CompileRequest, compile_service

    directory = session.settings.directory
    request = CompileRequest(service or "", directory, positions, values_only, fetch, choices, hooks)
    compiled = compile_service(request)
    session.diagnostics(compiled.diagnostics)
    if session.stream is not None:
        session.stream.say("result", {"result": compiled.data})
        return ExitCode.DONE
    if session.settings.output is Format.YAML:
        from ordito.ensemble.yaml_writer import block

        return deliver(session, "".join(block(compiled.data)).encode("utf-8"), out, compiled.sources)
    return deliver(
        session, msgspec.json.format(msgspec.json.encode(compiled.data), indent=2) + b"\n", out, compiled.sources
    )
