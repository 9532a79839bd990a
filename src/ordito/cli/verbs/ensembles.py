"""`ordito ensembles`: the ensembles of a server."""

from __future__ import annotations

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import ENSEMBLES_VERBS, VerbGroup
from ordito.cli.remote import ensemble_named
from ordito.cli.served import done, in_path, server_of, write_facts
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.served import EnsembleLine, EnsemblesData, EnsembleShownData, RemovalData

ensembles_command = VerbGroup("ensembles", ENSEMBLES_VERBS, {}, "The ensembles of a server.")


@verb("list", named="ensembles list")
@click.argument("project", default="", metavar="[PROJECT]")
def list_command(session: Session, project: str) -> ExitCode:
    """List the ensembles of the server that you may see, or those of one project."""
    path = f"/projects/{in_path(project)}/ensembles" if project else "/ensembles"
    session.show(EnsemblesData(tuple(server_of(session).all(path, EnsembleLine))), _write_ensembles)
    return ExitCode.DONE


def _write_ensembles(found: EnsemblesData, channel: Channel) -> None:
    rows = [
        (f"{one.project}/{one.name}", _service_of(one), _status_of(one), _attention_of(one), _state_of(one))
        for one in found.ensembles
    ]
    write_columns(("ENSEMBLE", "SERVICE", "STATUS", "NEEDS ATTENTION", "NOW"), rows, channel)


def _service_of(one: EnsembleLine) -> str:
    return ", ".join(one.package_labels) or (one.summary.service if one.summary is not None else "") or "-"


def _status_of(one: EnsembleLine) -> str:
    return one.summary.status if one.summary is not None else "-"


def _attention_of(one: EnsembleLine) -> str:
    return ", ".join(one.summary.attention) if one.summary is not None and one.summary.attention else "-"


def _state_of(one: EnsembleLine) -> str:
    return one.holder or ("idle" if one.exists else "not there")


@verb("show", named="ensembles show")
@click.argument("name", metavar="[PROJECT/]ENSEMBLE")
@click.option("--service", "of_service", is_flag=True, help="Show what is in the deployed service instead.")
@click.option("--file", metavar="PATH", default="", help="Show the text of this file of the deployed service instead.")
def show_command(session: Session, name: str, file: str, *, of_service: bool) -> ExitCode:
    """Show what the server knows of an ensemble; `ordito status` shows what exists in it."""
    if file or of_service:
        return _show_service(session, name, file)
    found = server_of(session).get(_path_of(name), EnsembleLine)
    session.show(EnsembleShownData(found), _write_ensemble)
    return ExitCode.DONE


def _show_service(session: Session, name: str, file: str) -> ExitCode:
    """Show the service as it was deployed, or a file of it."""
    from ordito.cli.kept_things import of_ensemble, show
    from ordito.cli.verbs.packages import service_facts, show_file
    from ordito.results.packaged import PackageFile, PackageSummary

    place = of_ensemble("service")(session, name)
    if file:
        return show_file(session, place.connection.get(f"{place.path}/files/{in_path(*file.split('/'))}", PackageFile))
    return show(session, place.connection.get(place.path, PackageSummary), place.shown, service_facts)


def _path_of(name: str) -> str:
    project, ensemble = ensemble_named(name)
    return f"/projects/{in_path(project)}/ensembles/{in_path(ensemble)}"


def _write_ensemble(found: EnsembleShownData, channel: Channel) -> None:
    one = found.ensemble
    rows = (
        ("service", _service_of(one)),
        ("package", one.package or ""),
        ("status", _status_of(one)),
        ("attention", _attention_of(one)),
        ("now", _state_of(one)),
        ("labels", ", ".join(f"{name}={value}" for name, value in one.labels.items())),
        ("problem", one.problem),
        ("known since", one.created),
        ("you may", ", ".join(one.allowed)),
    )
    write_facts(f"{one.project}/{one.name}", rows, channel)


@verb("create", named="ensembles create")
@click.argument("name", metavar="[PROJECT/]ENSEMBLE")
@click.argument("path", default="")
@click.option("--package", metavar="SERVICE|DIGEST|NAME:VERSION", default="", help="Make it of this service.")
@click.option("--label", "labels", metavar="NAME=VALUE", multiple=True, help="Give it a label; may be repeated.")
def create_command(session: Session, name: str, path: str, package: str, labels: tuple[str, ...]) -> ExitCode:
    """Make an ensemble of a service, which `ordito deploy` then deploys; or add one that exists already.

    A folder or an archive that --package names is sent to the server. PATH is the directory of an ensemble that exists
    on the server's machine; it is for administrators."""
    if bool(path) == bool(package):
        raise click.UsageError("give --package, or the PATH of an ensemble that exists on the server's machine")
    from ordito.client.looks import RemoteEnsemble
    from ordito.client.packages import made_of

    ensemble = RemoteEnsemble(server_of(session), *ensemble_named(name))
    body: dict[str, object] = {"name": ensemble.name, "labels": dict(map(_label, labels))}
    if path:
        body["path"] = path
    else:
        body["package"] = made_of(ensemble, package)
    ensemble.connection.do("POST", f"/projects/{in_path(ensemble.project)}/ensembles", EnsembleLine, body)
    return done(session, "created", ensemble.shown)


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f'"{text}" is not of the form NAME=VALUE')
    return name, value


@verb("change", named="ensembles change")
@click.argument("name", metavar="[PROJECT/]ENSEMBLE")
@click.option("--label", "labels", metavar="NAME=VALUE", multiple=True, help="Give it a label; may be repeated.")
@click.option("--no-label", "gone", metavar="NAME", multiple=True, help="Take a label away; may be repeated.")
def change_command(session: Session, name: str, labels: tuple[str, ...], gone: tuple[str, ...]) -> ExitCode:
    """Change the labels of an ensemble. Others stay as they are."""
    wanted: dict[str, str | None] = {**dict.fromkeys(gone), **dict(map(_label, labels))}
    if not wanted:
        raise click.UsageError("say what is to be different, as in --label NAME=VALUE")
    server_of(session).do("PATCH", _path_of(name), EnsembleLine, {"labels": wanted})
    return done(session, "changed", "/".join(ensemble_named(name)))


@verb("remove", named="ensembles remove")
@click.argument("name", metavar="[PROJECT/]ENSEMBLE")
@click.option("--forget", type=click.IntRange(min=0), metavar="N", help="The number of instances that still exist.")
def remove_command(session: Session, name: str, forget: int | None) -> ExitCode:
    """Remove an ensemble of which nothing exists, and of which no plan is open.

    It says what goes with it, such as its schedules and roles, and asks; --yes goes ahead without. With --forget the
    server lets go of one whose N instances exist: none of them is undeployed, and a directory that was added stays as
    it is."""
    from ordito.app.errors import Declined
    from ordito.cli.conversation import CliConversation

    connection, path, shown = server_of(session), _path_of(name), "/".join(ensemble_named(name))
    found = connection.get(f"{path}/removal", RemovalData)
    is_free = not found.open_plans and found.instances == (forget or 0)
    # What is in the way is said by the server.
    asks = bool(found.goes or found.instances) and is_free
    gone = [*found.goes, *([f"{found.instances} instances, which go on running"] if found.instances else [])]
    if not CliConversation(session).confirm(f"remove {shown}", [f"goes with it: {one}" for one in gone], asks=asks):
        raise Declined
    query = {"forget": forget} if forget else {}
    connection.ask("DELETE", path, query={**query, "digest": found.digest})
    return done(session, "removed", shown)
