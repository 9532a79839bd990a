"""`ordito server`: what is done to a server beside it, with its home directory."""

from __future__ import annotations

import importlib.util
import time
from typing import TYPE_CHECKING, TypeVar

import click

from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import SERVER_AUDIT_VERBS, SERVER_VERBS, VerbGroup
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.results.answer import Result
    from ordito.results.server import (
        AuditVerifiedData,
        BackedUpData,
        RestoredData,
        ServerResumedData,
        ServerStatusData,
    )

    R = TypeVar("R", bound=Result)

REFUSED = 3

NEEDED = ("alembic", "argon2", "prometheus_client", "sqlalchemy", "starlette", "uvicorn")
"""The modules that the extra `server` brings."""

server_command = VerbGroup("server", SERVER_VERBS, {}, "Check a server, back it up, and restore it, beside it.")
audit_command = VerbGroup("audit", SERVER_AUDIT_VERBS, {}, "Check the audit log of a server.")


def refuse_without_extra() -> None:
    """Raise ``Refused`` where the extra `server` is not installed."""
    from ordito.app.errors import Refused

    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise Refused("needs-extra", f"serving needs {missing[0]}", "install it: pip install 'ordito[server]'")


def _answer(kind: type[R], *words: str) -> R:
    """What the program beside the server answers. It is a process of its own: commands know nothing of the server."""
    import subprocess
    import sys

    import msgspec

    from ordito.app.errors import Refused
    from ordito.results.failure import Failure

    refuse_without_extra()
    command = [sys.executable, "-m", "ordito.server.operate", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    if done.returncode == REFUSED:
        failure = msgspec.json.decode(done.stdout, type=Failure)
        raise Refused(failure.code, failure.message, failure.hint)
    if done.returncode:
        raise RuntimeError(f"the program beside the server ended with {done.returncode}")
    return kind.read(msgspec.json.decode(done.stdout))


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


@verb("verify", named="server audit verify")
@click.argument("home")
@click.option("--head", metavar="HASH", default="", help="A hash that was noted before: it must still be in the log.")
def verify_command(session: Session, home: str, head: str) -> ExitCode:
    """Check whether the audit log of a server is whole: each row has the hash of the one before it.

    HOME is the directory of the server, which may run meanwhile. The log shows that a row was changed or removed; that
    rows at its end were removed shows only a hash that was noted elsewhere: give it with --head."""
    from ordito.results.server import AuditVerifiedData

    words = ("--head", head) if head else ()
    found = _answer(AuditVerifiedData, "verify", home, *words)
    session.show(found, _write_verified)
    is_whole = not found.broken and found.witnessed != 0
    return ExitCode.DONE if is_whole else ExitCode.JOB_FAILED


def _write_verified(found: AuditVerifiedData, channel: Channel) -> None:
    if found.broken:
        channel.line(f"BROKEN at row {found.broken}: it was changed, or the row before it was removed")
        channel.line(f"{found.rows} rows before it are whole")
    else:
        channel.line(f"whole: {found.rows} rows" + (f", the last one has the hash {found.head}" if found.head else ""))
    if found.witnessed == 0:
        channel.line("BROKEN: no row has the hash that was noted; rows were removed, or this is another log")
    elif isinstance(found.witnessed, int):
        channel.line(f"the hash that was noted is that of row {found.witnessed}")


@verb("status", named="server status")
@click.argument("home")
def status_command(session: Session, home: str) -> ExitCode:
    """Show how a server is: whether it runs, what it holds, and what is not well.

    HOME is the directory of the server. Nothing is asked of the server itself: its database, files and lock are looked
    at."""
    from ordito.results.server import ServerStatusData

    found = _answer(ServerStatusData, "status", home)
    session.show(found, _write_status)
    if found.waits:
        words = f"ordito server resume {home}"
        session.next(NextCommand(words, "let it resume jobs, begin plans, and keep schedules"))
    return ExitCode.JOB_FAILED if found.problems else ExitCode.DONE


def _write_status(found: ServerStatusData, channel: Channel) -> None:
    channel.line(
        f"runs: process {found.process}, since {_moment(found.since)}" if found.since else "no server runs on it"
    )
    channel.line(
        f"{found.projects} projects, {found.ensembles} ensembles, {found.users} users, {found.audit} rows of audit;"
        f" tables {found.tables or 'unknown'}, isolation {found.isolation}"
    )
    if found.waits:
        channel.line("restored: it resumes nothing yet")
    for problem in found.problems:
        channel.line(f"{channel.paint('warning', 'problem')}: {printable(problem)}")


@verb("backup", named="server backup")
@click.argument("home")
@click.argument("place", metavar="DIR")
@click.option("--with-keys", is_flag=True, help="Keys too: then the backup opens everything that it holds.")
def backup_command(session: Session, home: str, place: str, *, with_keys: bool) -> ExitCode:
    """Back up a server into a new directory, while it runs and jobs run.

    HOME is the directory of the server. DIR gets its database, settings and packages, and all its ensembles, those that
    lie elsewhere too. Keys are left out: without those of the server and of the ensembles nobody can read a secret in
    it. Keep them apart, or take them in with --with-keys and keep the backup as safe as the server."""
    from ordito.results.server import BackedUpData

    words = ("--with-keys",) if with_keys else ()
    found = _answer(BackedUpData, "backup", home, place, *words)
    session.show(found, _write_backup)
    for name in found.missing:
        session.warn(printable(f"the ensemble {name} is not there any more, and is not in the backup"))
    return ExitCode.DONE


def _write_backup(found: BackedUpData, channel: Channel) -> None:
    channel.line(printable(f"backed up to {found.place}: {found.files} files, {found.size} bytes"))
    for one in found.ensembles:
        running = f", with job {one.job}, which had not ended" if one.job else ""
        channel.line(printable(f"  {one.project}/{one.name}{running}"))
    for path in found.left_out:
        channel.line(printable(f"  left out, since it holds a key: {path}"))


@verb("restore", named="server restore")
@click.argument("place", metavar="DIR")
@click.argument("home")
@click.option("--resume", is_flag=True, help="Let the server go on at once with jobs, plans and schedules.")
def restore_command(session: Session, place: str, home: str, *, resume: bool) -> ExitCode:
    """Restore a server from a backup into an empty or new directory.

    DIR is the backup, of which every file is checked first. HOME gets all of it, with the ensembles below
    HOME/projects. The restored server resumes no job, begins no plan and keeps no schedule until you say so, since the
    world may have gone on: look first, then call `ordito server resume`."""
    from ordito.results.server import RestoredData

    words = ("--resume",) if resume else ()
    found = _answer(RestoredData, "restore", home, place, *words)
    session.show(found, _write_restored)
    session.next(
        NextCommand(f"ordito serve {home}", "start the server"),
        *([NextCommand(f"ordito server resume {home}", "let it go on, once you have looked")] if found.waits else []),
    )
    return ExitCode.DONE


def _write_restored(found: RestoredData, channel: Channel) -> None:
    channel.line(printable(f"restored {found.home}: {found.files} files, as of {_moment(found.made)}"))
    for one in found.ensembles:
        running = f", with job {one.job}, which had not ended" if one.job else ""
        channel.line(printable(f"  {one.project}/{one.name}: {one.directory}{running}"))
    for text in found.unreadable:
        channel.line(printable(f"  cannot be read without its key: {text}"))


@verb("resume", named="server resume")
@click.argument("home")
@click.option("--new-key", is_flag=True, help="The server's key is lost: remove what only that key opens.")
def resume_command(session: Session, home: str, *, new_key: bool) -> ExitCode:
    """Let a restored server go on: resume jobs, begin plans, keep schedules.

    HOME is the directory of the server, which may run already; it goes on within a few seconds."""
    from ordito.results.server import ServerResumedData

    words = ("--new-key",) if new_key else ()
    found = _answer(ServerResumedData, "resume", home, *words)
    session.show(found, _write_resumed)
    return ExitCode.DONE


def _write_resumed(found: ServerResumedData, channel: Channel) -> None:
    channel.line("the server goes on" if found.changed else "the server had nothing to wait for")
    for text in found.forgotten:
        channel.line(printable(f"  removed: {text}"))
