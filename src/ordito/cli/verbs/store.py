"""`ordito store`: a database of PostgreSQL in which many machines keep their ensembles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import STORE_VERBS, VerbGroup
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.results.store import StoreStatusData

store_command = VerbGroup(
    "store", STORE_VERBS, {}, "Keep ensembles in PostgreSQL, so that any machine can work on them."
)


@verb("init", named="store init")
def init_command(session: Session) -> ExitCode:
    """Make the tables of a store in an empty database.

    With --key FILE, the key of its workers is made too, unless there is one: it seals the keys of ensembles, and is
    never in the store. Bring it to each machine that is to work on ensembles with secrets, and keep a copy of it.
    """
    return _prepare(session, is_new=True)


@verb("upgrade", named="store upgrade")
def upgrade_command(session: Session) -> ExitCode:
    """Bring the tables of a store up to date with this version of ordito.

    Commands of the version before go on meanwhile, and afterwards."""
    return _prepare(session, is_new=False)


def _prepare(session: Session, *, is_new: bool) -> ExitCode:
    from ordito.app.stores import prepare_store
    from ordito.cli.in_store import store_request
    from ordito.results.store import StorePreparedData

    request = store_request(session.settings)
    done = prepare_store(request, is_new=is_new)
    session.show(StorePreparedData(done.store, done.before, done.tables, done.made_key))
    if done.before == done.tables:
        session.note(f"{done.store}: its tables are up to date ({done.tables})")
    else:
        session.note(f"{done.store}: its tables are of version {done.tables} now")
    if done.made_key:
        session.note(printable(f"made the key of its workers: {request.key}; keep a copy of it"))
    return ExitCode.DONE


@verb("status", named="store status")
def status_command(session: Session) -> ExitCode:
    """Show the ensembles of a store, which jobs are not finished, and who works on what."""
    from ordito.app.stores import look_at_store
    from ordito.cli.in_store import store_request
    from ordito.results.store import store_status

    session.show(store_status(*look_at_store(store_request(session.settings))), _write_status)
    return ExitCode.DONE


def _write_status(found: StoreStatusData, channel: Channel) -> None:
    channel.line(
        f"{found.store}: tables {found.tables}, {found.workers} live workers, {found.files} files of {found.size} bytes"
    )
    rows = [
        (f"{one.project}/{one.name}", one.status or "-", one.job or "-", one.holder or "-") for one in found.ensembles
    ]
    if rows:
        write_columns(("ENSEMBLE", "LAST JOB", "UNFINISHED", "HELD BY"), rows, channel)


@verb("change", named="store change")
@click.option(
    "--lost-after",
    metavar="DURATION|assume-ended",
    required=True,
    help="How long jobs wait for a silent machine of which an operation is in doubt.",
)
def change_command(session: Session, lost_after: str) -> ExitCode:
    """Change the settings of a store, which hold for all who work with it.

    An operation that was at work on the machine of a worker that is gone is asked for there. Where no worker is in that
    directory for --lost-after, five minutes at first, the step is lost and its job fails. With assume-ended it runs
    again at once, if that worker ran with --guard."""
    from ordito.cli.request_options import Duration
    from ordito.cli.verbs.workers import store_of
    from ordito.model.settings import ASSUME_ENDED
    from ordito.results.store import StoreSettingsData

    seconds = None if lost_after == ASSUME_ENDED else Duration().convert(lost_after, None, None)
    found = store_of(session)
    from ordito.cluster.store_settings import put_lost_after

    with found.connection() as db:
        put_lost_after(db, seconds)
    session.show(StoreSettingsData(str(found), seconds))
    what = "counts as ended, where its worker had a guard" if seconds is None else f"is waited for, {seconds:g} s"
    session.note(f"{found}: what is in doubt on a silent machine {what}")
    return ExitCode.DONE


@verb("import", named="store import")
@click.argument("place", metavar="DIR")
def import_command(session: Session, place: str) -> ExitCode:
    """Put the ensemble of the directory DIR into a store, as -e PROJECT/NAME.

    The directory stays as it was; let nobody work in it any more, since it manages the same resources."""
    return _move(session, place, is_import=True)


@verb("export", named="store export")
@click.argument("name", metavar="PROJECT/NAME")
@click.argument("place", metavar="DIR")
def export_command(session: Session, name: str, place: str) -> ExitCode:
    """Write an ensemble of a store into the new directory DIR, which is an ensemble by itself then.

    The store keeps its own. Bringing it back (`ordito store import`) and out again gives the same files."""
    return _move(session, place, is_import=False, name=name)


def _move(session: Session, place: str, *, is_import: bool, name: str = "") -> ExitCode:
    from ordito.app.stores import move_ensemble
    from ordito.cli.in_store import store_request
    from ordito.results.store import StoreMovedData

    ensemble = name or session.settings.ensemble
    if not ensemble:
        raise click.UsageError("what is it to be called in the store? give -e PROJECT/NAME")
    moved = move_ensemble(store_request(session.settings, ensemble), place, is_import=is_import)
    session.show(StoreMovedData(ensemble, place, moved.jobs, moved.files, is_import))
    where = f"{place} is in the store now, as {ensemble}" if is_import else f"{ensemble} is in {place} now"
    session.note(printable(f"{where}: {moved.files} files, {moved.jobs} jobs"))
    return ExitCode.DONE
