"""`ordito hosts check`."""

from __future__ import annotations

import shlex
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
    from ordito.app.hosts_check import Checked

HELP = """Connect to hosts of the inventory, and say what is there, and where the inventory says something else.

Hosts that are not given out because they could not be reached are given out again if they can be now. Without NAME all
hosts are checked. The exit code is 4 where one cannot be reached."""

TITLES = ("HOST", "REACHED", "OS", "CPUS", "MEMORY", "DISK", "TOOLS")


@verb("check", HELP, named="hosts check")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--accept-new", is_flag=True, help="Write the keys of hosts that are not known yet into the file of known keys."
)
def command(session: Session, names: tuple[str, ...], *, accept_new: bool) -> ExitCode:
    """Check hosts."""
    from ordito.app.hosts import HostsRequest
    from ordito.app.hosts_check import check_hosts

    settings = session.settings
    request = HostsRequest(settings.directory, settings.wanted_environment, settings.hosts, names)
    found = check_hosts(request, accept_new=accept_new)

    def text(channel: Channel) -> None:
        write_columns(TITLES, [_row(host) for host in found], channel)

    session.result({"hosts": msgspec.to_builtins(found)}, text)
    for host in found:
        _tell(host, session)
    for file in dict.fromkeys(file for host in found for file in host.open_keys):
        mend = f"chmod 600 {shlex.quote(file)}"
        session.warn(printable(f"others may read the private key {file}: ssh itself would not use it; {mend}"))
    lost = [host.name for host in found if host.unreachable]
    if lost:
        words = settings.command("hosts", "check", *lost)
        session.next(NextCommand(words, "once that is mended"))
    return ExitCode.UNREACHABLE if lost else ExitCode.DONE


def _tell(host: Checked, session: Session) -> None:
    from ordito.app.hosts import told

    if host.unreachable:
        session.warn(printable(host.unreachable))
    for key in host.accepted:
        session.note(printable(f"{host.name}: accepted the key {key}"))
    for difference in host.differences:
        session.warn(printable(f"{host.name}: {difference}"))
    if host.found_again:
        remains = f"; look whether something is left there of {told(host.remains)}" if host.remains else ""
        session.note(printable(f"{host.name} is there again, and is given out again{remains}"))


def _row(host: Checked) -> tuple[str, ...]:
    if host.unreachable:
        return host.name, "no", "", "", "", "", ""
    system = " ".join(host.os[k] for k in ("distribution", "version") if k in host.os) or host.os.get("type", "")
    has = (host.has.get(name, "") for name in ("num_cpus", "mem_size", "disk_size"))
    return host.name, "yes", system, *has, " ".join(host.tools)
