"""`ordito hosts list`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
import msgspec

from ordito.cli.channel import Channel
from ordito.cli.columns import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.hosts import HostEntry

HELP = """List the hosts of the inventory: what they have, what is left of it, and who has them.

None is reached for it; `ordito hosts check` does that. Without NAME all of them are listed."""

TITLES = ("HOST", "ADDRESS", "STATE", "OS", "LEFT", "LABELS", "INSTANCES")


@verb("list", HELP, named="hosts list")
@click.argument("names", nargs=-1, metavar="[NAME]...")
def command(session: Session, names: tuple[str, ...]) -> ExitCode:
    """List hosts."""
    from ordito.app.hosts import HostsRequest, list_hosts, told

    settings = session.settings
    found = list_hosts(HostsRequest(settings.directory, settings.wanted_environment, settings.hosts, names))

    def text(channel: Channel) -> None:
        write_columns(TITLES, [_row(host) for host in found.hosts], channel)

    session.result(msgspec.to_builtins(found), text)
    lost = [host for host in found.hosts if host.state == "lost"]
    for host in lost:
        remains = f"; there may be left on it: {told(host.remains)}" if host.remains else ""
        session.warn(printable(f"{host.name} is not given out since {host.since}: {host.why}{remains}"))
    if lost:
        words = session.settings.command("hosts", "check", *(host.name for host in lost))
        session.next(NextCommand(words, "look whether they are there again"))
    return ExitCode.DONE


def _row(host: HostEntry) -> tuple[str, ...]:
    system = " ".join(host.os[k] for k in ("distribution", "version") if k in host.os) or host.os.get("type", "")
    left = ", ".join(f"{name} {value}" for name, value in host.left.items())
    labels = ", ".join(name if value == "true" else f"{name}={value}" for name, value in host.labels.items())
    owners = ", ".join(f"{o.instance} of {_near(o.ensemble)}" for o in host.owners)
    return host.name, host.address, host.state, system, left, labels, owners


def _near(directory: str) -> str:
    """A directory as it is called from here, where that says more."""
    near = os.path.relpath(directory)
    return directory if near.startswith("..") else near
