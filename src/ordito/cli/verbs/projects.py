"""`ordito projects`: the projects of a server, and who has which role in them."""

from __future__ import annotations

import re

import click
import msgspec

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import PROJECTS_VERBS, VerbGroup
from ordito.cli.kept_things import on_server, removing
from ordito.cli.served import done, in_path, server_of
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.served import MemberLine, MembersData, ProjectData, ProjectsData

projects_command = VerbGroup(
    "projects", PROJECTS_VERBS, {}, "The projects of a server, and who has which role in them."
)


@verb("list", named="projects list")
def list_command(session: Session) -> ExitCode:
    """List the projects of the server that you may see, and what you may do in them."""
    found = ProjectsData(tuple(server_of(session).all("/projects", ProjectData)))
    session.show(found, _write_projects)
    return ExitCode.DONE


def _write_projects(found: ProjectsData, channel: Channel) -> None:
    rows = [(one.name, ", ".join(one.allowed) or "-", one.description) for one in found.projects]
    write_columns(("PROJECT", "YOU MAY", "DESCRIPTION"), rows, channel)


@verb("create", named="projects create")
@click.argument("name")
@click.option("--description", metavar="TEXT", default="", help="What it is for.")
def create_command(session: Session, name: str, description: str) -> ExitCode:
    """Make a project: a name space for ensembles, with members of its own. This is for administrators."""
    server_of(session).do("POST", "/projects", ProjectData, {"name": name, "description": description})
    return done(session, "created", name)


@verb("change", named="projects change")
@click.argument("name")
@click.option("--description", metavar="TEXT", required=True, help="What it is for.")
def change_command(session: Session, name: str, description: str) -> ExitCode:
    """Change the description of a project."""
    from ordito.client.edits import edited

    edited(server_of(session), "PATCH", f"/projects/{in_path(name)}", lambda _: {"description": description})
    return done(session, "changed", name)


remove_command = removing(
    "projects remove",
    "NAME",
    on_server("projects"),
    "Remove a project that has no ensembles, with its roles and service accounts.",
)


ROLE = re.compile(r"(user|group|account):([^=]+)=([a-z]+)(?:@(.+))?")


class _Bindings(msgspec.Struct, frozen=True):
    bindings: tuple[MemberLine, ...]


@verb("members", named="projects members")
@click.argument("name", metavar="PROJECT")
@click.option("--give", "given", metavar="WHO=ROLE", multiple=True, help="Give a role; may be repeated.")
@click.option("--take", "taken", metavar="WHO=ROLE", multiple=True, help="Take a role away; may be repeated.")
def members_command(session: Session, name: str, given: tuple[str, ...], taken: tuple[str, ...]) -> ExitCode:
    """Show who has which role in a project, and give or take roles.

    WHO=ROLE is written user:ann=deployer, group:ops=owner or account:ci=operator; user:ben=viewer@shop is a role in the
    ensemble shop alone. Roles are viewer, planner, operator, deployer, approver, maintainer and owner."""
    from ordito.client.edits import edited

    giving, taking = list(map(_member, given)), list(map(_member, taken))
    connection, path = server_of(session), f"/projects/{in_path(name)}/bindings"

    def change(before: bytes) -> _Bindings:
        now = msgspec.json.decode(before, type=_Bindings).bindings
        return _Bindings(tuple(dict.fromkeys([*(one for one in now if one not in taking), *giving])))

    answer = edited(connection, "PUT", path, change) if giving or taking else connection.ask("GET", path)
    now = msgspec.json.decode(answer.body, type=_Bindings).bindings
    session.show(MembersData(name, now), _write_members)
    return ExitCode.DONE


def _member(text: str) -> MemberLine:
    found = ROLE.fullmatch(text)
    if found is None:
        raise click.UsageError(f'"{text}" is not of the form KIND:NAME=ROLE, as in user:ann=deployer')
    return MemberLine(found[1], found[2], found[3], found[4] or "")


def _write_members(found: MembersData, channel: Channel) -> None:
    rows = [(one.kind, one.who, one.role, one.ensemble or "all") for one in found.members]
    write_columns(("KIND", "WHO", "ROLE", "ENSEMBLE"), rows, channel)
