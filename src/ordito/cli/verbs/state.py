"""`ordito state` and `ordito forget`: the records of what exists, looked at and changed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.base.json_text import json_text
from ordito.cli.delivery import deliver, out_option
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import STATE_VERBS, VerbGroup
from ordito.cli.progress.report import NextCommand
from ordito.cli.request_options import commit_option, wait_lock_option
from ordito.cli.session import Session
from ordito.cli.settings import Format, refused_value
from ordito.cli.structured import write_data
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.cli.channel import Channel
    from ordito.results.records import RecordsData


state_command = VerbGroup("state", STATE_VERBS, {}, "Show the records of instances, and change them by hand.")


@verb("show", named="state show")
@click.argument("names", nargs=-1, metavar="[INSTANCE|NODE]...")
def show_command(session: Session, names: tuple[str, ...]) -> ExitCode:
    """Show the records of instances, deleted ones included: of those named, by their ids or their nodes, or of all.
    `status` and `describe` say what the records mean."""
    from ordito.results.by_hand import STATE, StateAsked

    found = session.ask(STATE, StateAsked(names))
    if not found.instances:
        session.note("Nothing is recorded.")
    session.show(found, _write_records)
    return ExitCode.DONE


def _write_records(found: RecordsData, channel: Channel) -> None:
    if found.instances:
        write_data(found.instances, Format.YAML, channel)


@verb("mv", named="state mv")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@wait_lock_option
@commit_option()
def mv_command(session: Session, old: str, new: str, wait_lock: float, commit: str) -> ExitCode:
    """Follow a node that has been renamed in the template: OLD is the recorded name, NEW the one in the template.

    The instances keep their numbers, and nothing is run. What was carried out counts under the new name if only the
    name has changed; otherwise this is refused, as a deployment would be."""
    from ordito.cli.job_view import write_kept

    if session.settings.wanted_server:
        from ordito.cli.remote_edits import edit_there
        from ordito.results.by_hand import STATE_MOVE, MoveAsked

        found = edit_there(session, STATE_MOVE, MoveAsked(old=old, new=new), wait_lock, commit)
    else:
        from ordito.app.state.move import RenameNodeRequest, move
        from ordito.cli.conversation import CliConversation
        from ordito.results.records import edit_data

        request = RenameNodeRequest(session.settings.directory, old, new, wait_lock, commit)
        done = move(request, CliConversation(session))
        found = edit_data(done.recorded, instances=done.instances)
    for before, now in (found.instances or {}).items():
        session.note(f"{before} is {now}")
    session.note(f"Recorded as job {found.job}.")
    write_kept(found, session)
    session.show(found)
    return ExitCode.DONE


@verb("rm", named="state rm")
@click.argument("names", nargs=-1, required=True, metavar="INSTANCE|NODE...")
@wait_lock_option
@commit_option()
def rm_command(session: Session, names: tuple[str, ...], wait_lock: float, commit: str) -> ExitCode:
    """Remove the records of instances, whether they exist or not. Nothing is run: what exists of them stays, and is
    listed. Their numbers are not used again."""
    return _forget(session, "state rm", names, wait_lock, commit, force=True)


@verb("adopt", named="state adopt")
@click.argument("node", metavar="NODE")
@click.option(
    "-a",
    "--attribute",
    "attributes",
    metavar="NAME=VALUE",
    multiple=True,
    help="An attribute's value; may be repeated.",
)
@wait_lock_option
@commit_option()
def adopt_command(session: Session, node: str, attributes: tuple[str, ...], wait_lock: float, commit: str) -> ExitCode:
    """Record something that exists already as the next instance of NODE: as created and started. Nothing is run.

    The template describes the node. This ensemble did not create the instance, so undeploying keeps it unless told to
    remove it."""
    from ordito.cli.job_view import write_kept

    values = _values(attributes)
    if session.settings.wanted_server:
        from ordito.cli.remote_edits import edit_there
        from ordito.results.by_hand import STATE_ADOPT, AdoptAsked

        found = edit_there(session, STATE_ADOPT, AdoptAsked(node=node, attributes=values), wait_lock, commit)
    else:
        from ordito.app.state.adopt import AdoptRequest, adopt
        from ordito.cli.conversation import CliConversation
        from ordito.results.records import edit_data

        request = AdoptRequest(session.settings.directory, node, values, wait_lock, commit)
        done = adopt(request, CliConversation(session))
        found = edit_data(done.recorded, instance=done.instance)
    session.note(f"{found.instance} is recorded as created and started; job {found.job}.")
    write_kept(found, session)
    session.show(found)
    session.next(
        NextCommand(session.settings.command("describe", str(found.instance)), "see what is recorded of it"),
        NextCommand(session.settings.command("plan"), "see what deploying would do now"),
    )
    return ExitCode.DONE


def _values(given: tuple[str, ...]) -> dict[str, str]:
    values: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f'"{text}" is not of the form NAME=VALUE')
        if wrong := refused_value(value):
            raise click.UsageError(f"-a {name.strip()}={wrong}")
        values[name.strip()] = value
    return values


@verb("renew", named="state renew")
@click.option("--as-they-are", is_flag=True, help="Change nothing, and accept the files as they are from now on.")
@wait_lock_option
def renew_command(session: Session, wait_lock: float, *, as_they_are: bool) -> ExitCode:
    """Put back deployed files that were changed since: from the service, from other deployed files, or from the history
    of the ensemble in git. Nothing is run.

    The ensemble keeps a copy of each service that it has deployed, and operations run from there. If a file of it has
    changed, commands refuse to use it; undeploy and --force go on with the files as they are."""
    if session.settings.wanted_server:
        from ordito.cli.remote import ensemble_of
        from ordito.client.changes import do
        from ordito.results.by_hand import STATE_RENEW, RenewAsked

        ensemble = ensemble_of(session.settings, session.verb)
        done = do(ensemble, STATE_RENEW, RenewAsked(as_they_are), wait_lock=wait_lock)
    else:
        from ordito.app.state.renew import RenewRequest, renew
        from ordito.results.records import renewed_data

        done = renewed_data(renew(RenewRequest(session.settings.directory, as_they_are, wait_lock)))
    for word, files in (("put back", done.renewed), ("taken as it is", done.accepted)):
        for file in files:
            session.note(f"{word}: {file}")
    if not (done.renewed or done.accepted):
        session.note("Nothing to do: no deployed file has changed.")
    session.show(done)
    return ExitCode.DONE


@verb("export", named="state export")
@click.argument("names", nargs=-1, metavar="[INSTANCE|NODE]...")
@out_option
def export_command(session: Session, names: tuple[str, ...], out: str) -> ExitCode:
    """Write everything that is recorded as JSON, or with -o yaml as YAML: instances, relationships, attributes, inputs,
    outputs and counts. Sensitive values are not shown."""
    from ordito.results.by_hand import STATE_EXPORT, StateAsked

    found = session.ask(STATE_EXPORT, StateAsked(names)).state
    if session.stream is not None and not out:
        session.stream.say("result", {"result": found})
        return ExitCode.DONE
    if session.settings.output is Format.YAML:
        from ordito.ensemble.yaml_writer import block

        text = "".join(block(found))
    else:
        text = json_text(found, indent=2) + "\n"
    return deliver(session, text.encode(), out)


@verb("forget")
@click.argument("names", nargs=-1, metavar="[INSTANCE|NODE]...")
@click.option("--force", is_flag=True, help="Include instances that exist; they must be named.")
@wait_lock_option
@commit_option()
def forget_command(session: Session, names: tuple[str, ...], wait_lock: float, commit: str, *, force: bool) -> ExitCode:
    """Drop the records of deleted instances: of those named, or of all. Their numbers are not used again.

    With --force existing instances are forgotten too. Nothing is run: what exists of them stays, and is listed."""
    return _forget(session, "forget", names, wait_lock, commit, force=force)


def _forget(
    session: Session, word: str, names: tuple[str, ...], wait_lock: float, commit: str, *, force: bool
) -> ExitCode:
    """Remove records, and show what was forgotten and what may remain."""
    from ordito.cli.job_view import write_kept

    if session.settings.wanted_server:
        from ordito.cli.remote_edits import edit_there
        from ordito.results.by_hand import FORGET, STATE_REMOVE, ForgetAsked, RemoveAsked

        asked = RemoveAsked(names=names) if word == "state rm" else ForgetAsked(names=names, force=force)
        found = edit_there(session, STATE_REMOVE if word == "state rm" else FORGET, asked, wait_lock, commit)
    else:
        from ordito.app.state.forget import ForgetRequest, forget
        from ordito.cli.conversation import CliConversation
        from ordito.results.records import edit_data

        request = ForgetRequest(session.settings.directory, names, force, wait_lock, commit)
        done = forget(request, CliConversation(session))
        found = edit_data(done.recorded, forgotten=tuple(done.instances), remains=tuple(done.remains))
    if found.job is None:
        session.note("Nothing to forget: no instance was deleted.")
    else:
        count = len(found.forgotten or ())
        session.note(f"Forgot {count} instance{'' if count == 1 else 's'}; recorded as job {found.job}.")
        write_kept(found, session)
    if found.remains:
        session.warn("these may still exist, and are no longer recorded:")
        for line in found.remains:
            session.note(f"  {line}")
    session.show(found)
    return ExitCode.DONE
