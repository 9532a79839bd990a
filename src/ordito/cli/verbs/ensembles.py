"""`ordito ensembles`: the ensembles of a server."""

from __future__ import annotations

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import ENSEMBLES_VERBS, VerbGroup
from ordito.cli.remote import ensemble_named
from ordito.cli.served import done, in_path, server_of
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb
from ordito.results.served import EnsembleLine, EnsemblesData, EnsembleShownData

ensembles_command = VerbGroup("ensembles", ENSEMBLES_VERBS, {}, "The ensembles of a server.")


@verb("list", named="ensembles list")
@click.argument("project", default="", metavar="[PROJECT]")
def list_command(session: Session, project: str) -> ExitCode:
    """List the ensembles of the server that you may see, or those of one project."""
    path = f"/projects/{in_path(project)}/ensembles" if project else "/ensembles"
    session.show(EnsemblesData(tuple(server_of(session).all(path, EnsembleLine))), _write_ensembles)
    return ExitCode.DONE


def _write_ensembles(found: EnsemblesData, channel: Channel) -> None:
    rows = [(f"{one.project}/{one.name}", _state_of(one), ", ".join(one.allowed)) for one in found.ensembles]
    write_columns(("ENSEMBLE", "STATE", "YOU MAY"), rows, channel)


def _state_of(one: EnsembleLine) -> str:
    return one.holder or ("idle" if one.exists else "not there")


@verb("show", named="ensembles show")
@click.argument("name", metavar="[PROJECT/]ENSEMBLE")
def show_command(session: Session, name: str) -> ExitCode:
    """Show what the server knows of an ensemble; `ordito status` shows what exists in it."""
    found = server_of(session).get(_path_of(name), EnsembleLine)
    session.show(EnsembleShownData(found), _write_ensemble)
    return ExitCode.DONE


def _path_of(name: str) -> str:
    project, ensemble = ensemble_named(name)
    return f"/projects/{in_path(project)}/ensembles/{in_path(ensemble)}"


def _write_ensemble(found: EnsembleShownData, channel: Channel) -> None:
    one = found.ensemble
    channel.line(channel.paint("strong", printable(f"{one.project}/{one.name}")))
    for name, text in (("state", _state_of(one)), ("known since", one.created), ("you may", ", ".join(one.allowed))):
        channel.line(printable(f"  {name:<12} {text}"))


@verb("create", named="ensembles create")
@click.argument("name", metavar="[PROJECT/]ENSEMBLE")
@click.argument("path")
def create_command(session: Session, name: str, path: str) -> ExitCode:
    """Add an ensemble that exists on the server's machine already, in the directory PATH there. This is for
    administrators."""
    project, ensemble = ensemble_named(name)
    body = {"name": ensemble, "path": path}
    server_of(session).do("POST", f"/projects/{in_path(project)}/ensembles", EnsembleLine, body)
    return done(session, "created", f"{project}/{ensemble}")


@verb("remove", named="ensembles remove")
@click.argument("name", metavar="[PROJECT/]ENSEMBLE")
def remove_command(session: Session, name: str) -> ExitCode:
    """Let the server forget an ensemble. Its directory, and everything that runs, stays as it is."""
    server_of(session).ask("DELETE", _path_of(name))
    return done(session, "removed", "/".join(ensemble_named(name)))
