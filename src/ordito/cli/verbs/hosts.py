"""`ordito hosts`: the hosts of the inventory."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import HOSTS_VERBS, VerbGroup
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.hosts import HostEntry
    from ordito.app.hosts_check import Checked
    from ordito.results.hosts import CheckedHostsData, ReleasedHostsData


hosts_command = VerbGroup("hosts", HOSTS_VERBS, {}, "List the hosts of the inventory, check them, and take them back.")


LISTED = ("HOST", "ADDRESS", "STATE", "OS", "LEFT", "LABELS", "INSTANCES")


@verb("list", named="hosts list")
@click.argument("names", nargs=-1, metavar="[NAME]...")
def list_command(session: Session, names: tuple[str, ...]) -> ExitCode:
    """List the hosts of the inventory: what they have, what is free, and who uses them.

    No host is contacted; `ordito hosts check` does that. Without NAME all of them are listed."""
    from ordito.app.hosts import HostsRequest, list_hosts, told
    from ordito.results.hosts import HOSTS, HostsAsked, host_list_data

    settings = session.settings
    if settings.hosts is None:
        found = session.ask(HOSTS, HostsAsked(names, settings.wanted_environment))
    else:
        request = HostsRequest(settings.directory, settings.wanted_environment, settings.hosts, names)
        found = host_list_data(list_hosts(request))
    session.show(found, lambda shown, channel: write_columns(LISTED, [_row(host) for host in shown.hosts], channel))
    lost = [host for host in found.hosts if host.state == "lost"]
    for host in lost:
        remains = f"; on it there may remain: {told(host.remains)}" if host.remains else ""
        session.warn(printable(f"{host.name} is not given out since {host.since}: {host.why}{remains}"))
    if lost:
        words = session.settings.command("hosts", "check", *(host.name for host in lost))
        session.next(NextCommand(words, "see whether they can be reached again"))
    return ExitCode.DONE


def _row(host: HostEntry) -> tuple[str, ...]:
    system = " ".join(host.os[k] for k in ("distribution", "version") if k in host.os) or host.os.get("type", "")
    left = ", ".join(f"{name} {value}" for name, value in host.left.items())
    labels = ", ".join(name if value == "true" else f"{name}={value}" for name, value in host.labels.items())
    owners = ", ".join(f"{o.instance} of {_near(o.ensemble)}" for o in host.owners)
    return host.name, host.address, host.state, system, left, labels, owners


def _near(directory: str) -> str:
    """A directory relative to the current one, if that is clearer."""
    near = os.path.relpath(directory)
    return directory if near.startswith("..") else near


@verb("show", named="hosts show")
def show_command(session: Session) -> ExitCode:
    """Show the inventory in the ensemble's directory, hosts.yaml, as it is written."""
    from ordito.cli.given_texts import show_text
    from ordito.results.given import INVENTORY

    _refuse_other(session)
    return show_text(session, INVENTORY)


def _refuse_other(session: Session) -> None:
    if session.settings.hosts is not None:
        raise click.UsageError("this is about the ensemble's own hosts.yaml: leave --hosts out")


@verb("set", named="hosts set")
@click.argument("file", metavar="FILE")
def set_command(session: Session, file: str) -> ExitCode:
    """Replace the inventory in the ensemble's directory, hosts.yaml, by the text in FILE (- to read it).

    It is checked first, and with errors nothing is changed. Passwords and keys stand in it as { secret: NAME } only."""
    from ordito.cli.given_texts import replace_text
    from ordito.results.given import INVENTORY, INVENTORY_SET

    _refuse_other(session)
    return replace_text(session, INVENTORY, INVENTORY_SET, file, "hosts.yaml")


CHECKED = ("HOST", "REACHED", "OS", "CPUS", "MEMORY", "DISK", "TOOLS")


@verb("check", named="hosts check")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--accept-new", is_flag=True, help="Write the keys of hosts that are not known yet into the file of known keys."
)
def check_command(session: Session, names: tuple[str, ...], *, accept_new: bool) -> ExitCode:
    """Connect to hosts of the inventory, and show what they have and where the inventory differs.

    Hosts that were unreachable, and therefore not given out, are given out again if they can be reached now. Without
    NAME all hosts are checked. The exit code is 4 if a host cannot be reached."""
    settings = session.settings
    data = (
        _check_there(session, names, accept_new=accept_new)
        if settings.wanted_server
        else _check_here(session, names, accept_new=accept_new)
    )
    session.show(
        data, lambda shown, channel: write_columns(CHECKED, [_checked_row(host) for host in shown.hosts], channel)
    )
    found = data.hosts
    for host in found:
        _tell(host, session)
    for file in dict.fromkeys(file for host in found for file in host.open_keys):
        mend = f"chmod 600 {shlex.quote(file)}"
        session.warn(printable(f"others may read the private key {file}, so ssh does not use it; {mend}"))
    lost = [host.name for host in found if host.unreachable]
    if lost:
        words = settings.command("hosts", "check", *lost)
        session.next(NextCommand(words, "once that is corrected"))
    return ExitCode.UNREACHABLE if lost else ExitCode.DONE


def _check_here(session: Session, names: tuple[str, ...], *, accept_new: bool) -> CheckedHostsData:
    from ordito.app.hosts import HostsRequest
    from ordito.app.hosts_check import check_hosts
    from ordito.results.hosts import checked_hosts_data

    settings = session.settings
    request = HostsRequest(settings.directory, settings.wanted_environment, settings.hosts, names)
    return checked_hosts_data(check_hosts(request, accept_new=accept_new))


def _check_there(session: Session, names: tuple[str, ...], *, accept_new: bool) -> CheckedHostsData:
    from ordito.cli.remote import ensemble_of
    from ordito.client.changes import do
    from ordito.results.by_hand import HOSTS_CHECK, CheckHostsAsked

    asked = CheckHostsAsked(names, session.settings.wanted_environment, accept_new)
    return do(ensemble_of(session.settings, session.verb), HOSTS_CHECK, asked)


def _tell(host: Checked, session: Session) -> None:
    from ordito.app.hosts import told

    if host.unreachable:
        session.warn(printable(host.unreachable))
    for key in host.accepted:
        session.note(printable(f"{host.name}: accepted the key {key}"))
    for difference in host.differences:
        session.warn(printable(f"{host.name}: {difference}"))
    if host.found_again:
        remains = f"; check whether something remains there of {told(host.remains)}" if host.remains else ""
        session.note(printable(f"{host.name} is there again, and is given out again{remains}"))


def _checked_row(host: Checked) -> tuple[str, ...]:
    if host.unreachable:
        return host.name, "no", "", "", "", "", ""
    system = " ".join(host.os[k] for k in ("distribution", "version") if k in host.os) or host.os.get("type", "")
    has = (host.has.get(name, "") for name in ("num_cpus", "mem_size", "disk_size"))
    return host.name, "yes", system, *has, " ".join(host.tools)


@verb("release", named="hosts release")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--force", is_flag=True, help="Take a host back even if the ensemble of its instances still exists.")
def release_command(session: Session, names: tuple[str, ...], *, force: bool) -> ExitCode:
    """Take hosts back from instances of an ensemble that no longer exists and that nobody can undeploy.

    What runs on the hosts is not touched. A host whose ensemble still exists is only taken back with --force."""
    settings = session.settings
    if settings.wanted_server:
        from ordito.cli.remote import ensemble_of
        from ordito.client.changes import do
        from ordito.results.by_hand import HOSTS_RELEASE, ReleaseHostsAsked

        asked = ReleaseHostsAsked(names, settings.wanted_environment, force)
        released = do(ensemble_of(settings, session.verb), HOSTS_RELEASE, asked)
    else:
        from ordito.app.hosts import HostsRequest, release_hosts
        from ordito.results.hosts import released_hosts_data

        request = HostsRequest(settings.directory, settings.wanted_environment, settings.hosts, names)
        released = released_hosts_data(release_hosts(request, force=force))
    session.show(released, _write_released)
    return ExitCode.DONE


def _write_released(found: ReleasedHostsData, channel: Channel) -> None:
    for host in found.released:
        owners = ", ".join(f"{o.instance} of {o.ensemble}" for o in host.owners)
        channel.line(printable(f"{host.name} was taken back from {owners}"))
    if not found.released:
        channel.line("Nobody uses them.")
