"""`ordito packages`: archives of services that were sent to a server."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import click
import msgspec

from ordito.app.errors import Refused
from ordito.cli.channel import write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.given_texts import write_text
from ordito.cli.grammar import PACKAGES_VERBS, VerbGroup
from ordito.cli.kept_things import in_project, removing, show
from ordito.cli.progress.report import NextCommand
from ordito.cli.remote import ensemble_named
from ordito.cli.served import done, in_path, server_of
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.packaged import (
    PackageData,
    PackageFile,
    PackageLine,
    PackagesData,
    PackageShownData,
    PackageSummary,
)

NAMED = "[PROJECT/]PACKAGE"
PACKAGE = in_project("packages")
SHORT = 12

packages_command = VerbGroup("packages", PACKAGES_VERBS, {}, "Packages: services that were sent to a server.")


@verb("list", named="packages list")
@click.argument("project", default="default", metavar="[PROJECT]")
@click.option("--search", metavar="TEXT", default="", help="Only those with this text in a label, name or digest.")
def list_command(session: Session, project: str, search: str) -> ExitCode:
    """List the packages of a project, the latest first."""
    query = {"q": search} if search else {}
    found = tuple(server_of(session).all(f"/projects/{in_path(project)}/packages", PackageLine, query))
    rows = [(", ".join(one.labels) or "-", one.name, one.version or "-", str(one.nodes), one.by, one.created,
             one.digest[:SHORT]) for one in found]  # fmt: skip
    titles = ("LABELS", "SERVICE", "VERSION", "NODES", "BY", "SENT", "DIGEST")
    session.show(PackagesData(project, found), lambda _, channel: write_columns(titles, rows, channel))
    return ExitCode.DONE


@verb("show", named="packages show")
@click.argument("name", metavar=NAMED)
@click.option("--file", metavar="PATH", default="", help="Show the text of this file in it instead.")
def show_command(session: Session, name: str, file: str) -> ExitCode:
    """Show a package, named by a label or its digest: what is in it, and its inputs."""
    place = PACKAGE(session, name)
    if file:
        return show_file(session, place.connection.get(f"{place.path}/files/{in_path(*file.split('/'))}", PackageFile))
    found = place.connection.get(place.path, PackageData)
    about = {field: getattr(found, field) for field in ("digest", "labels", "size", "by", "created")}
    shown = PackageShownData(**msgspec.structs.asdict(found.summary), **about)
    return show(session, shown, place.shown, _facts)


def show_file(session: Session, found: PackageFile) -> ExitCode:
    """Show a file of a service that is at a server. Raises ``Refused`` for one that is no text."""
    if found.text is None and session.writes_text:
        hint = "`ordito packages fetch` gets the whole archive"
        raise Refused("unknown-file", f"{found.file} has {found.size} bytes, which are no text to be shown", hint)
    session.show(found, lambda one, channel: write_text(one.text or "", channel))
    return ExitCode.DONE


def _facts(one: PackageShownData) -> Iterator[tuple[str, str]]:
    yield "labels", ", ".join(one.labels)
    yield "digest", one.digest
    yield "sent", f"{one.created} by {one.by}"
    yield "size", f"{one.size} bytes"
    yield from service_facts(one)


def service_facts(one: PackageSummary) -> Iterator[tuple[str, str]]:
    """What there is to say about what is in a service."""
    yield "service", f"{one.name} {one.version}".strip()
    yield "about", one.description
    yield "entry", one.entry
    yield "nodes", ", ".join(node.name for node in one.nodes)
    yield "inputs", ", ".join(f"{put.name}{' (needed)' if put.required else ''}" for put in one.inputs)
    yield "outputs", ", ".join(one.outputs)
    yield "workflows", ", ".join(one.workflows)
    yield "policies", ", ".join(policy.name for policy in one.policies)
    yield "files", ", ".join(one.files)


@verb("push", named="packages push")
@click.argument("project")
@click.argument("service")
@click.option("--label", "labels", metavar="NAME:VERSION", multiple=True, help="Call it so too; repeatable.")
def push_command(session: Session, project: str, service: str, labels: tuple[str, ...]) -> ExitCode:
    """Send SERVICE, a folder or an archive (CSAR), to a project, unless it is there already.

    A folder is packed as `ordito package` does it."""
    from ordito.client.looks import RemoteEnsemble
    from ordito.client.packages import made_of

    connection = server_of(session)
    digest = made_of(RemoteEnsemble(connection, project, ""), service)
    path = f"/projects/{in_path(project)}/packages/{in_path(digest)}"
    for label in labels:
        connection.ask("PUT", f"{path}/labels/{in_path(label)}")
    found = connection.get(path, PackageLine)
    named = labels[0] if labels else found.digest
    session.note(f"{project}/{named} is there")
    session.show(found)
    words = session.settings.command("ensembles", "create", f"{project}/NAME", "--package", named)
    session.next(NextCommand(words, "make an ensemble of it"))
    return ExitCode.DONE


@verb("label", named="packages label")
@click.argument("name", metavar=NAMED)
@click.argument("label", metavar="NAME:VERSION")
def label_command(session: Session, name: str, label: str) -> ExitCode:
    """Let a label point to a package. A label stays where it is, unless its version ends in -dev."""
    place = PACKAGE(session, name)
    place.connection.ask("PUT", f"{place.path}/labels/{in_path(label)}")
    return done(session, "labelled", f"{ensemble_named(name)[0]}/{label}")


@verb("fetch", named="packages fetch")
@click.argument("name", metavar=NAMED)
@click.option("--out", metavar="FILE", default="", help="The file to write (default: the package's name, .csar).")
def fetch_command(session: Session, name: str, out: str) -> ExitCode:
    """Get the archive of a package, and check that it is what was sent."""
    from ordito.app.output_file import write_document

    place = PACKAGE(session, name)
    found = place.connection.get(place.path, PackageLine)
    content = place.connection.ask("GET", f"{place.path}/content").body
    if hashlib.sha256(content).hexdigest() != found.digest:
        raise Refused("digest", f"what has come of {place.shown} is not what was sent", "get it again")
    file = out or f"{ensemble_named(name)[1].replace(':', '-')}.csar"
    write_document(file, content, ())
    session.note(f"written: {file}")
    session.show(found)
    return ExitCode.DONE


remove_command = removing("packages remove", NAMED, PACKAGE, "Remove a package that nothing needs any more.")
