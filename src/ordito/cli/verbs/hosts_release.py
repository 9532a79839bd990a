"""`ordito hosts release`."""

from __future__ import annotations

import click
import msgspec

from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

HELP = """Take hosts back from instances of an ensemble that is not there any more, and that nobody can undeploy.

What runs on the hosts is not touched. A host whose ensemble is still there is only taken back with --force."""


@verb("release", HELP, named="hosts release")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--force", is_flag=True, help="Take a host back though the ensemble of its instances is still there.")
def command(session: Session, names: tuple[str, ...], *, force: bool) -> ExitCode:
    """Release hosts."""
    from ordito.app.hosts import HostsRequest
    from ordito.app.hosts_release import release_hosts

    settings = session.settings
    request = HostsRequest(settings.directory, settings.wanted_environment, settings.hosts, names)
    released = release_hosts(request, force=force)

    def text(channel: Channel) -> None:
        for host in released:
            owners = ", ".join(f"{o.instance} of {o.ensemble}" for o in host.owners)
            channel.line(printable(f"{host.name} was taken back from {owners}"))
        if not released:
            channel.line("Nobody has them.")

    session.result({"released": msgspec.to_builtins(released)}, text)
    return ExitCode.DONE
