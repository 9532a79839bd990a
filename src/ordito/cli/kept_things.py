"""Things of one kind that a server keeps by name, such as the webhooks of a project: to list, show and remove them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ordito.cli.channel import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.remote import ensemble_named
from ordito.cli.served import done, in_path, server_of, write_facts
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.answer import Result

if TYPE_CHECKING:
    from ordito.client.connection import ServerConnection


class RemotePlace(msgspec.Struct, frozen=True):
    """Where a thing is: the server, its path in the API, and how people name it."""

    connection: ServerConnection
    path: str
    shown: str


Find = Callable[[Session, str], RemotePlace]
"""Finds the place of what a command names."""


def on_server(things: str) -> Find:
    """Where things of the whole server are, by their names."""
    return lambda session, name: RemotePlace(server_of(session), f"/{things}/{in_path(name)}", name)


def in_project(things: str) -> Find:
    """Where things of a project are, named as in ``[PROJECT/]NAME``."""

    def find(session: Session, given: str) -> RemotePlace:
        project, name = ensemble_named(given)
        path = f"/projects/{in_path(project)}/{things}/{in_path(name)}"
        return RemotePlace(server_of(session), path, f"{project}/{name}")

    return find


def of_ensemble(thing: str) -> Find:
    """Where the one thing is that an ensemble has, which is named as in ``[PROJECT/]ENSEMBLE``."""

    def find(session: Session, given: str) -> RemotePlace:
        found = in_project("ensembles")(session, given)
        return msgspec.structs.replace(found, path=f"{found.path}/{thing}")

    return find


Facts = Callable[[Any], Iterable[tuple[str, str]]]
"""The names and values of what there is to say about a thing; empty values are left out."""


def showing(named: str, metavar: str, find: Find, kind: type[Result], facts: Facts, text: str) -> click.Command:
    """The verb that shows one thing; ``text`` is its help."""

    @verb("show", text, named=named)
    @click.argument("name", metavar=metavar)
    def command(session: Session, name: str) -> ExitCode:
        place = find(session, name)
        return show(session, place.connection.get(place.path, kind), place.shown, facts)

    return command


def show(session: Session, one: Result, title: str, facts: Facts) -> ExitCode:
    """Show a thing as the result of a verb."""
    session.show(one, lambda shown, channel: write_facts(title, facts(shown), channel))
    return ExitCode.DONE


def removing(named: str, metavar: str, find: Find, text: str) -> click.Command:
    """The verb that removes one thing; ``text`` is its help."""

    @verb("remove", text, named=named)
    @click.argument("name", metavar=metavar)
    def command(session: Session, name: str) -> ExitCode:
        place = find(session, name)
        place.connection.ask("DELETE", place.path)
        return done(session, "removed", place.shown)

    return command


def listing(
    things: str,
    kind: type[Any],
    data: Callable[[str, tuple[Any, ...]], Result],
    titles: tuple[str, ...],
    row: Callable[[Any], tuple[str, ...]],
    text: str,
) -> click.Command:
    """The verb that lists the things of a project; ``data`` makes the result of its name and of them."""

    @verb("list", text, named=f"{things} list")
    @click.argument("project", default="default", metavar="[PROJECT]")
    def command(session: Session, project: str) -> ExitCode:
        found = tuple(server_of(session).all(f"/projects/{in_path(project)}/{things}", kind))
        session.show(data(project, found), lambda _, channel: write_columns(titles, list(map(row, found)), channel))
        return ExitCode.DONE

    return command
