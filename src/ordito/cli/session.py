"""One run of a command: its settings, its two channels, and its forms of output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from ordito.base.diagnostics import Diagnostic
from ordito.cli import diagnostics as diagnostics_view
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.ndjson import JsonStream
from ordito.cli.progress.report import NextCommand, write_next
from ordito.cli.settings import COMMON_FORMATS, NOTHING, Format, GlobalSettings
from ordito.cli.structured import write_data
from ordito.cli.text_width import printable, short_pins
from ordito.results.answer import A, R, Result, UseCase

Shown = TypeVar("Shown", bound=Result)


class Session:
    """The output of a verb.

    ``out`` gets only the result, ``err`` everything else for people. With ``--json`` all of it goes to ``out`` as a
    stream of objects. ``job_began`` is whether the command has begun a job. ``public_inputs`` are the inputs whose
    values are known not to be secret. ``verb`` is the verb being run, with its group, as in "jobs list".
    """

    def __init__(self, settings: GlobalSettings, verb: str = "") -> None:
        self.settings = settings
        self.verb = verb
        self.out = Channel(sys.stdout, settings.color)
        self.err = Channel(sys.stderr, settings.color)
        self.stream = JsonStream(self.out) if settings.json_events else None
        self.job_began = False
        self.public_inputs: frozenset[str] = frozenset()

    @property
    def can_ask(self) -> bool:
        """Whether questions can be asked."""
        return not self.settings.no_input and sys.stdin is not None and sys.stdin.isatty()

    @property
    def writes_text(self) -> bool:
        """Whether results are text for people."""
        return self.stream is None and self.settings.output is Format.TEXT

    def completed(self, found: Sequence[Diagnostic]) -> list[Diagnostic]:
        """Diagnostics with their commands completed for the same ensemble."""
        complete = self.settings.completed
        return [msgspec.structs.replace(one, message=complete(one.message), hint=complete(one.hint)) for one in found]

    def diagnostics(self, found: Sequence[Diagnostic]) -> None:
        """Show diagnostics."""
        found = self.completed(found)
        if self.stream is not None:
            for diagnostic in found:
                self.stream.say("diagnostic", diagnostics_view.as_data(diagnostic))
        elif found:
            diagnostics_view.render(found, self.err)

    def ask(self, look: UseCase[A, R], asked: A) -> R:
        """The answer for the ensemble of this command, here or at the server that is named."""
        if self.settings.wanted_server:
            from ordito.cli.remote import ensemble_of

            return ensemble_of(self.settings).ask(look, asked)
        return look.answer(self.settings.directory, asked)

    def show(self, found: Shown, write: Callable[[Shown, Channel], None] | None = None) -> None:
        """Show the result of the verb: its data to programs, or what ``write`` makes of it to people, by default
        nothing."""
        if not self.writes_text:
            self.result(found.data, lambda _: None)
        elif write is not None:
            write(found, self.out)

    def result(self, data: Mapping[str, object], text: Callable[[Channel], None], *, bare: bool = False) -> None:
        """Write the result of the verb: ``data`` for programs, with the name of its format, or what ``text`` writes for
        people. ``bare`` data has no format name: its names are those of the template, or it is a file to be kept as it
        is."""
        if not bare and "format" not in data:
            data = {"format": f"ordito.{self.verb.replace(' ', '-')}/1", **data}
        if self.stream is not None:
            self.stream.say("result", {"result": data})
        elif self.settings.output is Format.TEXT:
            text(self.out)
        else:
            write_data(data, self.settings.output, self.out)

    def note(self, text: str) -> None:
        """Show a note to people."""
        if self.stream is None and not self.settings.quiet:
            self.err.line(text)

    def warn(self, text: str) -> None:
        """Show a warning to people, even in quiet mode."""
        text = self.settings.completed(text)
        if self.stream is not None:
            self.stream.say("diagnostic", {"code": "warning", "severity": "warning", "message": text})
        else:
            self.err.line(f"{self.err.paint('warning', 'warning')}: {short_pins(text)}")

    def next(self, *commands: NextCommand) -> None:
        """Propose commands."""
        if self.stream is not None:
            self.stream.say("next", {"commands": [{"command": c.command, "purpose": c.purpose} for c in commands]})
        else:
            write_next(commands, self.err)

    def again(self, *more: str, meant: Mapping[str, str] = NOTHING) -> str:
        """This command line again, from ``GlobalSettings.again``, with the values that may be shown."""
        return self.settings.again(*more, meant=meant, public=self.public_inputs)

    def fail(self, code: str, message: str, hint: str = "") -> None:
        """Show why nothing was done, and what to do about it."""
        message, hint = self.settings.completed(message), self.settings.completed(hint)
        if self.stream is None:
            self.err.line(f"{self.err.paint('error', f'error[{code}]')}: {short_pins(message)}")
            if hint:
                self.err.line(f"  = help: {printable(hint)}")
        self.fail_for_programs(code, message, hint)

    def fail_for_programs(
        self, code: str, message: str, hint: str, diagnostics: Sequence[object] = (), **more: object
    ) -> None:
        """Say the same to a program that waits for a result, with ``more`` data."""
        error = {"code": code, "message": message, "hint": hint}
        if self.stream is not None:
            self.stream.say("error", error)
        elif self.settings.output in COMMON_FORMATS[1:]:
            write_data({"error": error, "diagnostics": diagnostics, **more}, self.settings.output, self.out)

    def closed(self, code: ExitCode) -> ExitCode:
        """The exit code of the verb, unless its result could not be written."""
        if self.out.failure is not None and code is ExitCode.DONE:
            self.err.line(f"ordito: cannot write the result: {self.out.failure.strerror}")
            return ExitCode.JOB_FAILED
        return code
