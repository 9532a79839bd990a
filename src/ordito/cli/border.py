"""The border around a command: every error becomes an exit code and readable text."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import TracebackType

import click

from ordito import __version__
from ordito.base.suggest import nearest
from ordito.cli.channel import silence
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import OTHER_ARGUMENTS, OTHER_OPTIONS, did_you_mean, root
from ordito.cli.options import ARGUMENTS, settings_of
from ordito.cli.text_width import one_line

OTHERS_WRITE, GROUP_OR_OTHERS_WRITE = 0o002, 0o022


def run_guarded(arguments: list[str]) -> int:
    """Run a command line and return its exit code. Never raises."""
    _keep_others_from_writing()
    # A caller may have closed them: then nobody wants to read, as long as the process lives.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # Names and values may hold what the encoding of a terminal does not.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    report = CrashReport()
    with report:
        report.exit_code = _run(arguments, report)
    return report.exit_code


def _keep_others_from_writing() -> None:
    """If everybody could write to new files (``umask 000``), let only their owner do so: somebody who can write to the
    files of operations could do everything that their user may. A mask that lets a group write is kept."""
    mask = os.umask(GROUP_OR_OTHERS_WRITE)
    if mask & OTHERS_WRITE:
        os.umask(mask)


def _run(arguments: list[str], report: CrashReport) -> int:
    group = root()
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        with group.make_context("ordito", list(arguments)) as context:
            context.meta[ARGUMENTS] = arguments
            try:
                result = group.invoke(context)
            finally:
                # Options may stand behind the verb too: only now all of them are read.
                settings = settings_of(context)
                report.directory, report.resume = Path(settings.directory), settings.command("jobs", "resume")
            return int(result if result is not None else ExitCode.DONE)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.UsageError as error:
        _explain_usage(error)
        return ExitCode.USAGE
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        return ExitCode.INTERRUPTED
    except OSError as error:
        # Verbs explain their own; what is left and names no file is a help that could not be written.
        if error.filename is not None:
            raise
        return unwritten(error)


def unwritten(error: OSError) -> int:
    """Say that a help or a version could not be written to standard output, and give the exit code. A reader that
    closed the output early is no error."""
    silence(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return ExitCode.DONE
    _say(f"cannot write the result: {error.strerror or error}")
    return ExitCode.JOB_FAILED


def _explain_usage(error: click.UsageError) -> None:
    """Say what is wrong with a command line, and what is correct."""
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        near = nearest(error.option_name, error.possibilities or ())[:2]
        instead = OTHER_OPTIONS.get(error.option_name)
        message = f'there is no option "{error.option_name}"{f"; {instead}" if instead else did_you_mean(near)}'
    path = error.ctx.command_path if error.ctx is not None else "ordito"
    if "unexpected extra argument" in message:
        instead = OTHER_ARGUMENTS.get(path.rpartition(" ")[2])
        message = f"{message}; {instead}" if instead else message
    _say(message)
    _say(f"see: {path} --help")


def _say(text: str) -> None:
    try:
        print(f"ordito: {one_line(text)}", file=sys.stderr, flush=True)
    except OSError:
        # The exit code still says it.
        silence(sys.stderr)


class CrashReport:
    """Writes the details of a fault of this program to a file, and tells of it in one line."""

    def __init__(self) -> None:
        self.exit_code: int = ExitCode.INTERNAL
        self.directory = Path()
        self.resume = "ordito jobs resume"

    def __enter__(self) -> CrashReport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        import traceback

        from ordito.base.masking import net

        self.exit_code = ExitCode.INTERNAL
        masking = net()
        summary = masking.text(f"{type(error).__name__}: {error}").splitlines()[0]
        text = masking.text("".join(traceback.format_exception(kind, error, trace)))
        place = self._keep(f"ordito {__version__}, Python {sys.version}\n\n{text}")
        kept = f"the details are in {place}" if place else "its details could not be written anywhere"
        _say(f"this is a fault of Ordito itself: {summary}; {kept}")
        if (self.directory / ".ordito" / "journal.db").exists():
            _say(f"if a job was running, nothing of it is lost: {self.resume}")
        return True

    def _keep(self, text: str) -> Path | None:
        """Write the details to a file: in the ensemble if there is one, else in the folder for temporary files."""
        import tempfile

        name = f"ordito-crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        for folder in (self.directory / ".ordito", Path(tempfile.gettempdir())):
            try:
                if folder.is_dir():
                    # A new file, for its owner only: others may write to the folder of temporary files, too.
                    handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                        file.write(text)
                    return folder / name
            except OSError:
                continue
        return None
