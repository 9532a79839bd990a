"""`ordito groups`: groups of users of a server."""

from __future__ import annotations

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import GROUPS_VERBS, VerbGroup
from ordito.cli.kept_things import on_server, removing
from ordito.cli.progress.lines import plural
from ordito.cli.served import done, in_path, server_of
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.served import GroupData, GroupsData

groups_command = VerbGroup("groups", GROUPS_VERBS, {}, "The groups of users of a server.")


@verb("list", named="groups list")
def list_command(session: Session) -> ExitCode:
    """List the groups of users, with their members. This is for administrators."""
    session.show(GroupsData(tuple(server_of(session).all("/groups", GroupData))), _write_groups)
    return ExitCode.DONE


def _write_groups(found: GroupsData, channel: Channel) -> None:
    write_columns(("GROUP", "MEMBERS"), [(one.name, ", ".join(one.members)) for one in found.groups], channel)


@verb("set", named="groups set")
@click.argument("name", metavar="GROUP")
@click.argument("members", metavar="USER...", nargs=-1, required=True)
def set_command(session: Session, name: str, members: tuple[str, ...]) -> ExitCode:
    """Set the members of a group; it is made where there is none."""
    from ordito.client.edits import edited

    path, wanted = f"/groups/{in_path(name)}", {"members": members}
    edited(server_of(session), "PUT", path, lambda _: wanted, absent="unknown-group")
    return done(session, "set", f"{name}, with {plural(len(set(members)), 'member')}")


remove_command = removing(
    "groups remove",
    "GROUP",
    on_server("groups"),
    "Remove a group, with the roles that are bound to it. Its members stay users.",
)
