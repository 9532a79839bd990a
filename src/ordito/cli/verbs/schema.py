"""`ordito schema`."""

from __future__ import annotations

import json
from typing import Any

import click

from ordito.base.diagnostics import Severity
from ordito.cli.delivery import deliver, out_option
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import fetch_option
from ordito.cli.progress.lines import plural
from ordito.cli.session import Session
from ordito.cli.settings import Format
from ordito.cli.verb import verb

SERVICE, ENSEMBLE, HOSTS = "service", "ensemble", "hosts"
OF = (SERVICE, ENSEMBLE, HOSTS)

HELP = """Write a JSON Schema (2020-12) for service templates with the types of SERVICE, or with those of TOSCA alone.
With --of, one for `ensemble.yaml` or for an inventory such as `hosts.yaml`.

An editor that knows JSON Schema for YAML completes and checks templates by it, types of your own included. Name it in
the first line of a template, as in: # yaml-language-server: $schema=tosca.schema.json"""


@verb("schema", HELP, formats=(Format.TEXT, Format.JSON))
@click.argument("service", required=False)
@click.option("--of", type=click.Choice(OF), default=SERVICE, help="Of which files; service templates, if not given.")
@out_option
@fetch_option
def command(session: Session, service: str | None, of: str, out: str, *, fetch: bool) -> ExitCode:
    """Make a schema."""
    from ordito.app.json_schema.service import json_schema

    if of != SERVICE:
        if service is not None:
            raise click.UsageError(f"the schema of {of} is the same for every service: leave out {service}")
        return _deliver(session, _of(of), out, ())
    made = json_schema(service or "", fetch=fetch)
    errors = sum(d.severity is Severity.ERROR for d in made.diagnostics)
    if errors:
        session.note(f"{service} is not valid ({plural(errors, 'error')}); the schema holds what can be read of it")
    return _deliver(session, made.schema, out, made.sources)


def _of(kind: str) -> dict[str, Any]:
    from ordito.app.json_schema.written import ensemble_schema, hosts_schema

    return ensemble_schema() if kind == ENSEMBLE else hosts_schema()


def _deliver(session: Session, schema: dict[str, Any], out: str, sources: tuple[str, ...]) -> ExitCode:
    if session.stream is not None:
        session.stream.say("result", {"result": schema})
        return ExitCode.DONE
    return deliver(session, (json.dumps(schema, indent=1, ensure_ascii=True) + "\n").encode("utf-8"), out, sources)
