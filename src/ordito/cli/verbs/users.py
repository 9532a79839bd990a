"""`ordito users`: the users of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import USERS_VERBS, VerbGroup
from ordito.cli.kept_things import on_server, removing
from ordito.cli.served import done, in_path, server_of
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.served import LinkData, UserData, UserLinkData, UsersData

if TYPE_CHECKING:
    from ordito.client.connection import ServerConnection

users_command = VerbGroup("users", USERS_VERBS, {}, "The users of a server.")


@verb("list", named="users list")
def list_command(session: Session) -> ExitCode:
    """List the users of the server. This is for administrators."""
    session.show(UsersData(tuple(server_of(session).all("/users", UserData))), _write_users)
    return ExitCode.DONE


def _write_users(found: UsersData, channel: Channel) -> None:
    write_columns(("USER", "IS", "SIGNS IN", "SINCE"), list(map(_user_row, found.users)), channel)


def _user_row(one: UserData) -> tuple[str, ...]:
    roles = [name for name, is_so in (("admin", one.admin), ("auditor", one.auditor)) if is_so]
    ways = [way for way, is_so in (("by the provider", one.subject), ("with a password", one.has_password)) if is_so]
    signs_in = "not: disabled" if one.disabled else ", ".join(ways) or "with a link"
    return one.name, ", ".join(roles) or "-", signs_in, one.created


@verb("create", named="users create")
@click.argument("name")
@click.option("--admin", is_flag=True, help="They administer the server.")
@click.option("--auditor", is_flag=True, help="They see everything that was done, and change nothing.")
def create_command(session: Session, name: str, admin: bool, auditor: bool) -> ExitCode:
    """Make a user, and show the link with which they sign in once, within five minutes.

    `ordito login LINK` does that in a command."""
    connection = server_of(session)
    connection.do("POST", "/users", UserData, {"name": name, "admin": admin, "auditor": auditor})
    return _show_link(session, connection, name)


def _show_link(session: Session, connection: ServerConnection, name: str) -> ExitCode:
    link = connection.do("POST", f"/users/{in_path(name)}/reset", LinkData)
    session.show(UserLinkData(link.user, link.link), lambda one, channel: channel.line(one.link))
    return ExitCode.DONE


@verb("reset", named="users reset")
@click.argument("name")
def reset_command(session: Session, name: str) -> ExitCode:
    """Take the password of a user away, end their sessions and tokens, and show a link with which they sign in once,
    within five minutes.

    Tokens that they made for service accounts go on: `ordito accounts list` shows these."""
    return _show_link(session, server_of(session), name)


@verb("change", named="users change")
@click.argument("name")
@click.option("--admin/--no-admin", default=None, help="Whether they administer the server.")
@click.option("--auditor/--no-auditor", default=None, help="Whether they see everything that was done.")
@click.option("--disable/--enable", "disabled", default=None, help="Whether they can sign in.")
@click.option("--subject", help="As whom the provider knows them that signs people in; '' for no longer.")
def change_command(
    session: Session,
    name: str,
    admin: bool | None,
    auditor: bool | None,
    disabled: bool | None,
    subject: str | None,
) -> ExitCode:
    """Change what a user is, or disable them: their sessions end at once, and their tokens are refused."""
    given = {"admin": admin, "auditor": auditor, "disabled": disabled, "subject": subject}
    wanted = {field: value for field, value in given.items() if value is not None}
    if not wanted:
        raise click.UsageError("say what is to be different, as in --disable")
    from ordito.client.edits import edited

    edited(server_of(session), "PATCH", f"/users/{in_path(name)}", lambda _: wanted)
    return done(session, "changed", name)


remove_command = removing(
    "users remove",
    "NAME",
    on_server("users"),
    "Remove a user with their sessions, tokens and roles. What they did stays in the audit log.",
)
