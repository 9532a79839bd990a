"""`ordito audit`: what was done at a server."""

from __future__ import annotations

from itertools import islice

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.served import done, server_of
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.served import AuditData, DeedData


@verb("audit")
@click.option("--actor", default="", help="Only what this principal did, as in user:ann.")
@click.option("--project", default="", help="Only what was done in this project.")
@click.option("--action", default="", help="Only this action, as in token.make.")
@click.option("--outcome", default="", help="Only what ended so: done, denied, failed.")
@click.option("--out", metavar="FILE", default="", help="Write all rows to this file, one JSON object a line.")
@click.option("-n", "--most", type=click.IntRange(1), default=50, show_default=True, help="How many rows.")
def audit_command(
    session: Session, actor: str, project: str, action: str, outcome: str, out: str, most: int
) -> ExitCode:
    """Show what was done at the server, the newest first: who, when, from where, and how it ended.

    This is for administrators and auditors. Each row has the hash of the one before it."""
    connection = server_of(session)
    if out:
        from ordito.app.output_file import write_document

        write_document(out, connection.ask("GET", "/audit/export").body, ())
        return done(session, "written", out)
    query = {"actor": actor, "project": project, "action": action, "outcome": outcome, "limit": min(most, 500)}
    deeds = connection.all("/audit", DeedData, {name: value for name, value in query.items() if value})
    session.show(AuditData(tuple(islice(deeds, most))), _write_audit)
    return ExitCode.DONE


def _write_audit(found: AuditData, channel: Channel) -> None:
    rows = [
        (str(one.number), one.time, one.principal or "nobody", one.action, _where(one), one.outcome, one.detail)
        for one in found.deeds
    ]
    write_columns(("ROW", "TIME", "WHO", "ACTION", "ABOUT", "OUTCOME", ""), rows, channel)


def _where(one: DeedData) -> str:
    return "/".join(filter(None, (one.project, one.ensemble, one.object))) or "-"
