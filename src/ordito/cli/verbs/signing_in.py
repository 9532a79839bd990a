"""`ordito login`, `logout` and `whoami`: with whose rights commands ask a server."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ordito.app.errors import Declined, NobodyToAsk, Refused
from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.report import NextCommand
from ordito.cli.remote import check_extra, connection_of
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.results.served import MadeLogin, WhoAmIData


@verb("login")
@click.argument("url", metavar="[URL]", default="")
@click.option("--as", "name", metavar="NAME", default="", help="The name under which the server is remembered.")
@click.option("--token-stdin", is_flag=True, help="Read a token that is there already from standard input.")
@click.option("--confirm", "code", metavar="CODE", default="", help="Confirm the sign-in of another command.")
def login_command(session: Session, url: str, name: str, token_stdin: bool, code: str) -> ExitCode:
    """Sign in at a server, and remember it under a name.

    It prints a code and waits until somebody who is signed in there has confirmed it, which makes a token of theirs for
    this command, valid for 90 days: in a browser on any machine, on the page that it prints, or with `ordito login
    --confirm CODE`. URL may also be the one-time link that the server has printed at its first start, or that an
    administrator has sent.

    Tokens are kept in servers.json, in your configuration directory, which only you can read. Programs get theirs in
    the variable ORDITO_TOKEN instead."""
    if code and (token_stdin or name):
        raise click.UsageError("--confirm is for the sign-in of another command: leave out --token-stdin and --as")
    check_extra()
    if code:
        return _confirm(session, url, code)
    from ordito.client.servers import KnownServer, address_of, checked_name, name_of, remember, usual_name
    from ordito.client.signing_in import by_code, by_link, by_token
    from ordito.results.served import SignedInData

    given, _, secret = (url or session.settings.wanted_server).partition("#")
    if not given:
        raise Refused("needs-server", "no server is named", "give its URL: `ordito login URL`")
    address = address_of(given.removesuffix("/sign-in") if secret else given)
    kept_as = checked_name(name) if name else name_of(address) or usual_name(address)
    if secret:
        user, token = by_link(address, secret)
    elif token_stdin:
        token = sys.stdin.readline().strip()
        user = by_token(address, token)
    else:
        user, token = by_code(address, lambda login: _tell(login, address, session))
    remember(kept_as, KnownServer(address, token, user))
    found = SignedInData(address, kept_as, user)
    session.show(found, lambda one, channel: channel.line(f"Signed in as {one.user} at {one.server} ({one.name})."))
    session.next(
        NextCommand(session.settings.plain_command("--server", kept_as, "ensembles", "list"), "see what is there")
    )
    return ExitCode.DONE


def _tell(login: MadeLogin, address: str, session: Session) -> None:
    from ordito.client.signing_in import code_shown

    code = code_shown(login.code)
    page = f"{address}/device"
    if session.stream is not None:
        session.stream.say("login", {"code": code, "page": page, "seconds": login.seconds})
        return
    words = session.settings.plain_command("--server", address, "login", "--confirm", code)
    session.err.line(f"The code is {session.err.paint('strong', code)}, for {login.seconds // 60} minutes.")
    session.err.line(f"Confirm it in a browser:  {page}")
    session.err.line(f"or where a command is signed in:  {words}")


def _confirm(session: Session, url: str, code: str) -> ExitCode:
    from ordito.client.connection import ServerConnection
    from ordito.client.servers import address_of, token_for
    from ordito.client.signing_in import confirm, waiting_with
    from ordito.results.served import ConfirmedData

    if url:
        connection = ServerConnection(address_of(url), token_for(url))
    else:
        connection = connection_of(session.settings, session.verb)
    login = waiting_with(connection, code)
    session.note(printable(f"{login.name} ({login.address}) wants to act with your rights."))
    if not session.settings.yes:
        if not session.can_ask:
            raise NobodyToAsk("login")
        session.err.write("Confirm it? [yes/no] ")
        if sys.stdin.readline().strip().lower() not in {"yes", "y"}:
            raise Declined
    confirm(connection, login, code)
    session.show(ConfirmedData(connection.url, login.name, login.address))
    session.note("Confirmed.")
    return ExitCode.DONE


@verb("logout")
@click.argument("given", metavar="[URL|NAME]", default="")
def logout_command(session: Session, given: str) -> ExitCode:
    """End the token with which commands are signed in at a server, and forget the server.

    Other tokens of yours stay; `ordito tokens list` shows them."""
    check_extra()
    from ordito.client.servers import TOKEN_VARIABLE, address_of, forget, known_servers, name_of
    from ordito.client.signing_in import sign_out
    from ordito.results.served import SignedOutData

    named = given or session.settings.wanted_server
    if not named:
        known = ", ".join(known_servers())
        hint = f"give one of: {known}" if known else "nobody is signed in at any server here"
        raise Refused("needs-server", "no server is named", hint)
    address = address_of(named)
    name = named if named in known_servers() else name_of(address)
    if not name:
        raise Refused("bad-server", f"nobody is signed in at {address} here", "`ordito login URL` signs in")
    ended = sign_out(address, known_servers()[name].token)
    forget(name)
    session.show(SignedOutData(address, ended), lambda one, channel: channel.line(f"Signed out at {one.server}."))
    if os.environ.get(TOKEN_VARIABLE):
        session.warn(f"the token in {TOKEN_VARIABLE} is still used; end it with `ordito tokens remove`")
    return ExitCode.DONE


@verb("whoami")
def whoami_command(session: Session) -> ExitCode:
    """Show with whose rights commands ask the server, and what that permits."""
    from ordito.results.served import MeData, WhoAmIData

    connection = connection_of(session.settings, session.verb)
    me = connection.get("/me", MeData)
    found = WhoAmIData(connection.url, me.kind, me.name, me.project, me.by, me.server, me.projects)
    session.show(found, _write_me)
    return ExitCode.DONE


def _write_me(found: WhoAmIData, channel: Channel) -> None:
    of = f" of the project {found.project}" if found.project else ""
    channel.line(printable(f"{found.kind} {found.name}{of}, at {found.server}, by {found.by}"))
    if found.permissions:
        channel.line(f"on the server: {', '.join(found.permissions)}")
    rows = [(name, ", ".join(may)) for name, may in _by_name(found.projects).items()]
    if rows:
        write_columns(("PROJECT", "PERMISSIONS"), rows, channel)
    else:
        channel.line("no role in any project")


def _by_name(projects: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: projects[name] for name in sorted(projects)}
