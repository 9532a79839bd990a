"""`ordito schema`."""

from __future__ import annotations

import json

import click

from ordito.base.diagnostics import Severity
from ordito.cli.delivery import deliver, out_option
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import fetch_option
from ordito.cli.progress.lines import plural
from ordito.cli.session import Session
from ordito.cli.settings import Format
from ordito.cli.verb import verb

HELP = """Write a JSON Schema (2020-12) for service templates with the types of SERVICE, or with those of TOSCA alone.

An editor that knows JSON Schema for YAML completes and checks templates by it, types of your own included. Name it in
the first line of a template, as in: # yaml-language-server: $schema=tosca.schema.json"""


@verb("schema", HELP, formats=(Format.TEXT, Format.JSON))
@click.argument("service", required=False)
@out_option
@fetch_option
def command(session: Session, service: str | None, out: str, *, fetch: bool) -> ExitCode:
    """Make a schema."""
    from ordito.app.json_schema.service import json_schema

    made = json_schema(service or "", fetch=fetch)
    errors = sum(d.severity is Severity.ERROR for d in made.diagnostics)
    if errors:
        session.note(f"{service} is not valid ({plural(errors, 'error')}); the schema holds what can be read of it")
    if session.stream is not None:
        session.stream.say("result", {"result": made.schema})
        return ExitCode.DONE
    return deliver(
        session, (json.dumps(made.schema, indent=1, ensure_ascii=True) + "\n").encode("utf-8"), out, made.sources
    )
