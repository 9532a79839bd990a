"""`ordito accounts`: service accounts, as which programs act at a server."""

from __future__ import annotations

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import ACCOUNTS_VERBS, VerbGroup
from ordito.cli.kept_things import in_project, removing
from ordito.cli.remote import ensemble_named
from ordito.cli.served import done, in_path, server_of, write_tokens
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.served import AccountData, AccountsData

accounts_command = VerbGroup("accounts", ACCOUNTS_VERBS, {}, "Service accounts: programs act as them at a server.")


@verb("list", named="accounts list")
@click.argument("project", default="default", metavar="[PROJECT]")
def list_command(session: Session, project: str) -> ExitCode:
    """List the service accounts of a project, with their tokens."""
    found = tuple(server_of(session).all(f"/projects/{in_path(project)}/accounts", AccountData))
    session.show(AccountsData(project, found), _write_accounts)
    return ExitCode.DONE


def _write_accounts(found: AccountsData, channel: Channel) -> None:
    if any(one.tokens for one in found.accounts):
        write_tokens([(token, (one.name,)) for one in found.accounts for token in one.tokens], ("ACCOUNT",), channel)
    bare = [(one.name, one.created) for one in found.accounts if not one.tokens]
    if bare or not found.accounts:
        write_columns(("WITHOUT TOKENS", "SINCE"), bare, channel)


@verb("create", named="accounts create")
@click.argument("name", metavar="[PROJECT/]NAME")
def create_command(session: Session, name: str) -> ExitCode:
    """Make a service account. `ordito projects members` gives it a role, `ordito tokens create` a token."""
    project, account = ensemble_named(name)
    server_of(session).do("POST", f"/projects/{in_path(project)}/accounts", AccountData, {"name": account})
    return done(session, "created", f"{project}/{account}")


remove_command = removing(
    "accounts remove",
    "[PROJECT/]NAME",
    in_project("accounts"),
    "Remove a service account with its tokens and roles.",
)
