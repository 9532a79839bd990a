"""`ordito server settings`: how a server is set, asked of the server itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click
import msgspec

from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import SERVER_SETTINGS_VERBS, VerbGroup
from ordito.cli.kept_things import show
from ordito.cli.served import server_of
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.served import SettingsShownData

PATH = "/settings"
PARTS = ("banner", "jobs", "limits", "egress")

settings_command = VerbGroup(
    "settings", SERVER_SETTINGS_VERBS, {}, "Settings of a server that can be changed while it runs."
)


def _facts(found: SettingsShownData) -> Iterator[tuple[str, str]]:
    yield "warning", found.warning
    yield "banner", found.banner
    yield "isolation", found.isolation
    yield "jobs", _pairs(found.jobs)
    yield "limits", _pairs(found.limits)
    yield "egress", ", ".join(found.egress) or "nothing"
    yield "set here", ", ".join(name for name in PARTS if found.changed.get(name) is not None) or "nothing"


def _pairs(values: Mapping[str, object]) -> str:
    texts = (f"{value:.15g}" if isinstance(value, float) else str(value) for value in values.values())
    return ", ".join(map("=".join, zip(values, texts, strict=True)))


@verb("show", named="server settings show")
def show_command(session: Session) -> ExitCode:
    """Show how the server is set that --server names. This is for administrators."""
    connection = server_of(session)
    return show(session, connection.get(PATH, SettingsShownData), connection.url, _facts)


@verb("set", named="server settings set")
@click.option("--banner", metavar="TEXT", help='A message to all who use the server; "" for none.')
@click.option("--jobs", type=int, metavar="N", help="How many jobs run at a time.")
@click.option("--resume", metavar="WHICH", help="Which interrupted jobs go on by themselves: server, always or never.")
@click.option("--limit", "limits", metavar="NAME=N", multiple=True, help="A limit, by its name in server.yaml.")
@click.option("--egress", metavar="HOST", multiple=True, help="All that the server may reach; repeatable.")
@click.option("--of-file", "reset", type=click.Choice(PARTS), multiple=True, help="As server.yaml says again.")
def set_command(
    session: Session,
    banner: str | None,
    jobs: int | None,
    resume: str | None,
    limits: tuple[str, ...],
    egress: tuple[str, ...],
    reset: tuple[str, ...],
) -> ExitCode:
    """Set the banner, how jobs run, limits, and what the server may reach, at once and while it runs.

    It goes before the server's own file server.yaml, until --of-file. What is not named stays as it is; --egress names
    all hosts, in place of those that were set before. This is for administrators."""
    numbers = dict(map(_limit, limits))
    own_jobs = {name: value for name, value in (("parallel", jobs), ("resume", resume)) if value is not None}
    given = {"banner": banner is not None, "jobs": own_jobs, "limits": numbers, "egress": egress}
    if both := [name for name in reset if given[name]]:
        raise click.UsageError(f"{both[0]} cannot be set, and be as server.yaml says: leave one of them out")
    if not (reset or any(given.values())):
        raise click.UsageError("say what is to be different, as in --banner TEXT")
    from ordito.client.edits import edited

    def change(before: bytes) -> dict[str, Any]:
        now = msgspec.json.decode(before, type=SettingsShownData)
        wanted: dict[str, Any] = {name: None if name in reset else now.changed.get(name) for name in PARTS}
        wanted |= {"banner": banner} if banner is not None else {}
        wanted |= {"jobs": {**now.jobs, **own_jobs}} if own_jobs else {}
        wanted |= {"limits": {**now.limits, **numbers}} if numbers else {}
        wanted |= {"egress": egress} if egress else {}
        return wanted

    connection = server_of(session)
    answer = edited(connection, "PUT", PATH, change)
    return show(session, msgspec.json.decode(answer.body, type=SettingsShownData), connection.url, _facts)


def _limit(text: str) -> tuple[str, int | float]:
    name, _, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not name or not 0 < number < float("inf"):
        raise click.UsageError(f'"{text}" is not of the form NAME=N, as in requests=50')
    return name.replace("-", "_"), int(number) if number.is_integer() else number
