"""`ordito ensembles source`: the repository in git that an ensemble of a server follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from ordito.cli.durations import brief
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import ENSEMBLES_SOURCE_VERBS, VerbGroup
from ordito.cli.kept_things import of_ensemble, removing, show, showing
from ordito.cli.progress.report import NextCommand
from ordito.cli.request_options import Duration
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.results.sources import SourceData

NAMED = "[PROJECT/]ENSEMBLE"
SOURCE = of_ensemble("source")

source_command = VerbGroup(
    "source", ENSEMBLES_SOURCE_VERBS, {}, "The repository in git whose commits an ensemble of a server follows."
)


def _facts(one: SourceData) -> Iterator[tuple[str, str]]:
    yield "repository", one.repository
    yield "branch", one.branch
    yield "folder", one.path
    yield "new commits", "are carried out as far as the rules allow" if one.apply == "auto" else "are planned"
    yield "looks", f"every {brief(one.every)}" if one.every else "when a push is told, or when asked"
    yield "last commit", one.revision or "none yet"
    yield "looked", one.looked or "not yet"
    yield "problem", one.problem
    yield "hook", one.hook
    yield "secret", one.secret or ""
    yield "set", f"by {one.by}"


show_command = showing(
    "ensembles source show", NAMED, SOURCE, SourceData, _facts, "Show the repository that an ensemble follows."
)
remove_command = removing(
    "ensembles source remove", NAMED, SOURCE, "Let an ensemble follow no repository any more. It stays as it is."
)


@verb("set", named="ensembles source set")
@click.argument("name", metavar=NAMED)
@click.argument("repository", default="")
@click.option("--branch", metavar="NAME", help="The branch to follow (default: main).")
@click.option("--path", metavar="FOLDER", help="The folder in it that is the service (default: all of it).")
@click.option("--auto/--ask", default=None, help="Carry new commits out, or only plan them (default).")
@click.option("--every", type=Duration(), metavar="DURATION", help="Look so often without being told of pushes.")
@click.option("--only-hook", is_flag=True, help="Look only when a push is told (default).")
def set_command(
    session: Session,
    name: str,
    repository: str,
    auto: bool | None,
    every: float | None,
    *,
    only_hook: bool,
    **given: Any,
) -> ExitCode:
    """Let an ensemble follow a branch of REPOSITORY, a URL by https, http or ssh: each new commit is planned.

    What is not named stays as it is set; REPOSITORY is needed the first time. Then a hook with its secret is shown, at
    which GitHub, Gitea, Forgejo or GitLab tells of pushes: the secret is never shown again. The host of the repository
    must be in the setting `egress` of the server."""
    if every is not None and only_hook:
        raise click.UsageError("--every and --only-hook exclude each other")
    from ordito.client.edits import edited

    given |= {"repository": repository or None, "every": 0 if only_hook else every}
    given["apply"] = None if auto is None else "auto" if auto else "ask"
    wanted = {field: value for field, value in given.items() if value is not None}

    def change(before: bytes) -> dict[str, object]:
        if not before and not repository:
            raise click.UsageError("it follows none yet: give the URL of the repository")
        now = msgspec.json.decode(before, type=dict[str, object]) if before else {"branch": "main"}
        return {**{field: now[field] for field in given if field in now}, **wanted}

    place = SOURCE(session, name)
    answer = edited(place.connection, "PUT", place.path, change, absent="unknown-source")
    show(session, msgspec.json.decode(answer.body, type=SourceData), place.shown, _facts)
    words = session.settings.command("ensembles", "source", "show", place.shown)
    session.next(NextCommand(words, "see what has come of it"))
    return ExitCode.DONE


@verb("fetch", named="ensembles source fetch")
@click.argument("name", metavar=NAMED)
def fetch_command(session: Session, name: str) -> ExitCode:
    """Have the server look at the repository of an ensemble now. A new commit is planned."""
    place = SOURCE(session, name)
    found = place.connection.do("POST", f"{place.path}/look", SourceData)
    session.note(f"the server looks at {found.repository}")
    session.show(found)
    words = session.settings.command("ensembles", "source", "show", place.shown)
    session.next(NextCommand(words, "see what has come of it"))
    return ExitCode.DONE
