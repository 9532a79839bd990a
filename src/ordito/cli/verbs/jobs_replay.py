"""`ordito jobs replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from ordito.base.sensitive import encode_hook
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text
from ordito.cli.kept_view import kept_data, write_kept
from ordito.cli.options import commit_option, wait_lock_option
from ordito.cli.progress.lines import plural
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.replay import ReplayResult

MOST_SHOWN = 200

HELP = """Rebuild what exists from the records of all jobs, and compare it with ensemble.yaml.

It says where the two differ, and which record is missing where one is. With --until or --first, it writes what existed
then. With --write, what the records say takes the place of what ensemble.yaml and jobs.tsv say, as after a merge of two
clones; what you wrote above the marker line stays."""


@verb("replay", HELP, named="jobs replay")
@click.option("--until", metavar="CHANGE", default="", help="Write what existed after this job or task.")
@click.option("--first", type=click.IntRange(min=0), metavar="NUMBER", help="Write what existed after so many jobs.")
@click.option("--write", is_flag=True, help="Write ensemble.yaml and jobs.tsv from the records.")
@wait_lock_option
@commit_option("auto")
def command(session: Session, until: str, first: int | None, write: bool, wait_lock: float, commit: str) -> ExitCode:
    """Replay."""
    from ordito.app.replay import ReplayRequest, replay

    if write and (until or first is not None):
        raise click.UsageError("--write takes all jobs: leave out --until and --first")
    if until and first is not None:
        raise click.UsageError("--until and --first say two things: give one of them")
    result = replay(ReplayRequest(session.settings.directory, until, first, write, wait_lock, commit))
    session.result(_data(result), lambda channel: _text(result, channel))
    write_kept(result.kept, session)
    _suggest(result, session)
    return ExitCode.DONE if result.agrees else ExitCode.REFUSED


def _data(result: ReplayResult) -> dict[str, object]:
    data: dict[str, object] = msgspec.to_builtins(result, enc_hook=encode_hook)
    data["agrees"] = result.agrees
    del data["kept"]
    if result.written:
        data.update(kept_data(result.kept))
    if result.state is None:
        del data["state"]
    return data


def _text(result: ReplayResult, channel: Channel) -> None:
    for problem in result.problems:
        channel.line(f"{channel.paint('error', problem.code)}: {printable(problem.message)}")
    if result.state is not None:
        if not result.problems:
            _state(result, channel)
        return
    for fork in result.forks:
        after = f"after job {fork.after}" if fork.after else "from the beginning"
        channel.line(f"fork: jobs {', '.join(fork.jobs)} were run by different clones {after}")
    for clash in result.clashes:
        channel.line(f"changed on both sides: {printable(clash.target)}, by jobs {clash.jobs[0]} and {clash.jobs[1]}")
    if result.unreadable:
        channel.line(f"{channel.paint('error', 'cannot be compared')}: {printable(result.unreadable)}")
    for differing in result.differs[:MOST_SHOWN]:
        recorded, found = _shown(differing.recorded), _shown(differing.found)
        channel.line(printable(f"{differing.path}: recorded {recorded}, found {found}"))
    more = result.more + max(0, len(result.differs) - MOST_SHOWN)
    if more:
        channel.line(f"... and {plural(more, 'more difference')}")
    _summary(result, channel)


def _summary(result: ReplayResult, channel: Channel) -> None:
    jobs = plural(result.jobs, "job")
    if result.caveat:
        channel.line(f"effective statuses are not compared: {printable(result.caveat)}")
    if result.joined:
        channel.line(f"Job {result.joined} joins what the clones did.")
    if result.written:
        channel.line(f"ensemble.yaml and jobs.tsv are written from the records of {jobs}.")
    elif result.agrees:
        channel.line(f"The records of {jobs} give exactly what ensemble.yaml says.")


def _state(result: ReplayResult, channel: Channel) -> None:
    from ordito.ensemble.yaml_writer import block

    channel.write("".join(block({"status": msgspec.to_builtins(result.state, enc_hook=encode_hook)})))


def _shown(value: object) -> str:
    return "nothing" if value is None else as_text(value)


def _suggest(result: ReplayResult, session: Session) -> None:
    if result.agrees:
        return
    if result.problems:
        session.note("Records are restored from git: `git log -- jobs` shows which commit had them.")
        return
    session.next(
        NextCommand(session.settings.command("jobs", "replay", "--write"), "let the records take the file's place"),
        NextCommand(session.settings.command("status"), "see what the file says exists"),
    )
