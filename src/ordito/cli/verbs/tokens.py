"""`ordito tokens`: what commands and programs sign in with at a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import TOKENS_VERBS, VerbGroup
from ordito.cli.remote import ensemble_named
from ordito.cli.served import done, in_path, server_of, write_tokens
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.served import MadeToken, MadeTokenData, TokenData, TokensData

F = TypeVar("F", bound=Callable[..., Any])

tokens_command = VerbGroup("tokens", TOKENS_VERBS, {}, "Tokens, with which commands and programs sign in at a server.")


def _account_option(function: F) -> F:
    return click.option(
        "--account", metavar="PROJECT/NAME", default="", help="Of this service account, instead of your own."
    )(function)


def _user_option(function: F) -> F:
    return click.option("--user", metavar="NAME", default="", help="Of this user; for administrators.")(function)


def _tokens_path(account: str, user: str = "") -> str:
    if account and user:
        raise click.UsageError("--account and --user exclude each other")
    if user:
        return f"/users/{in_path(user)}/tokens"
    if not account:
        return "/me/tokens"
    project, name = ensemble_named(account)
    return f"/projects/{in_path(project)}/accounts/{in_path(name)}/tokens"


@verb("list", named="tokens list")
@_user_option
def list_command(session: Session, user: str) -> ExitCode:
    """List your tokens, without their secrets; `ordito accounts list` shows those of service accounts."""
    found = TokensData(tuple(server_of(session).all(_tokens_path("", user), TokenData)))
    session.show(found, lambda one, channel: write_tokens([(token, ()) for token in one.tokens], (), channel))
    return ExitCode.DONE


@verb("create", named="tokens create")
@click.argument("name")
@click.option("--days", type=click.IntRange(1, 366), default=90, show_default=True, help="How long it is valid.")
@click.option("--role", default="", help="Narrow it to what this role may do.")
@click.option("--project", "projects", multiple=True, help="Narrow it to this project; may be repeated.")
@_account_option
def create_command(
    session: Session, name: str, days: int, role: str, projects: tuple[str, ...], account: str
) -> ExitCode:
    """Make a token, and show it: this once, and never again.

    A program gets it in the variable ORDITO_TOKEN. NAME says what it is for."""
    body = {"name": name, "expires": days, "role": role, "projects": projects}
    made = server_of(session).do("POST", _tokens_path(account), MadeToken, body)
    found = MadeTokenData(made.id, made.name, made.expires, made.token)
    session.show(found, lambda one, channel: channel.line(one.token))
    return ExitCode.DONE


@verb("remove", named="tokens remove")
@click.argument("token", metavar="ID")
@_account_option
@_user_option
def remove_command(session: Session, token: str, account: str, user: str) -> ExitCode:
    """End a token: whoever has it is refused from now on."""
    server_of(session).ask("DELETE", f"{_tokens_path(account, user)}/{in_path(token)}")
    return done(session, "removed", token)
