"""Progress where nothing can be redrawn: one line per transition, easy to search and to keep.

00:00:04 web_1        create                 start
00:00:04 web_1        create                 ok 0.3s
"""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.text import as_text
from ordito.cli.channel import Channel
from ordito.cli.durations import brief, clock
from ordito.cli.progress.ledger import WHOLE, in_words, nothing, subject, title, titled
from ordito.cli.text_width import one_line, pad, printable, shorten
from ordito.work.events import (
    Event,
    InstanceState,
    JobCancelling,
    JobRollback,
    JobStarted,
    StepFailed,
    StepLog,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepWarning,
)
from ordito.work.invocation import Ending, Outcome

WIDEST_NAME = 24
WIDEST_INPUT = 40
OPERATION_WIDTH = 22
NO_TIME = "0.0s"
MOST_SKIPPED = 4
"""How many lines list what was skipped because of one failure; then the number of others is given."""
MANY_ATTEMPTS, FIRST_ATTEMPTS = 20, 4
"""If an operation has more attempts than this, the first are shown, and then those with twice the last number."""


def asked_by(event: JobCancelling) -> str:
    """By whom a job is asked to end, or why."""
    return f"asked by {event.by} to end" if event.by else f"it is to end: {event.because or 'somebody has asked'}"


class LineProgress:
    """Writes a line for each transition of a step; with ``shows_output`` also the output of operations."""

    def __init__(self, channel: Channel, *, shows_output: bool = False, tells_cancelling: bool = False) -> None:
        """``tells_cancelling`` is whether it is told here that the job is asked to end: a command that runs it says so
        by itself, at once."""
        self._channel = channel
        self._shows_output = shows_output
        self._tells_cancelling = tells_cancelling
        self._began = 0.0
        self._name_width = 8
        self._titles: dict[str, tuple[str, str]] = {}
        self._skipped: list[StepSkipped] = []
        self._untold: set[str] = set()
        """The steps whose next attempt is not shown."""

    def __call__(self, event: Event) -> None:
        """Write an event, if it has something to show. What was skipped because of one failure is shown together."""
        if isinstance(event, InstanceState):
            return
        is_one_more = isinstance(event, StepSkipped) and self._skipped and event.because == self._skipped[0].because
        if not is_one_more:
            self._tell_skipped()
        self._write(event)

    def _write(self, event: Event) -> None:
        paint = self._channel.paint
        match event:
            case StepStarted():
                self.note(event)
                self._start(event)
            case StepSucceeded():
                said = paint("faint", nothing(event.operation)) if event.no_op else self._success(event.outcome)
                self._line(event.at, *self._named(event), said)
            case StepFailed():
                self._line(event.at, *self._named(event), paint("bad", f"FAILED {failure(event.outcome)}"))
            case StepRetrying():
                self._tell_retrying(event)
            case StepSkipped():
                self._skipped.append(event)
            case StepWarning():
                self._line(event.at, *self._title(event.step), f"warning: {event.message}")
            case StepLog() if self._shows_output:
                self._output(event)
            case JobStarted() | JobRollback() | JobCancelling():
                self._write_of_job(event)

    def _write_of_job(self, event: JobStarted | JobRollback | JobCancelling) -> None:
        match event:
            case JobStarted():
                self._begin(event)
            case JobRollback():
                self._channel.line(f"rolling back what was done: {plural(event.steps, 'step')}")
            case JobCancelling() if self._tells_cancelling:
                ends = "what runs is ended now" if event.now else "running steps finish, no others start"
                self._line(event.at, "job", "", self._channel.paint("warning", f"{asked_by(event)}: {ends}"))

    def note(self, event: Event) -> None:
        """Process an event without writing anything."""
        if isinstance(event, StepStarted):
            self._titles[event.step] = (subject(event), titled(event))
        elif isinstance(event, StepSucceeded):
            self._titles.pop(event.step, None)

    def say(self, text: str) -> None:
        """Write a line of the command's own."""
        self._tell_skipped()
        self._channel.line(text)

    def close(self) -> None:
        """End the output."""
        self._tell_skipped()

    def _tell_skipped(self) -> None:
        """Write what was skipped because of the same failure."""
        found, self._skipped = self._skipped, []
        because = f": {in_words(found[0].because)}" if found and found[0].because else ""
        folded = len(found) > MOST_SKIPPED and not self._shows_output
        for event in found[: MOST_SKIPPED - 1] if folded else found:
            self._line(event.at, *self._named(event), self._channel.paint("faint", f"skipped{because}"))
        if folded:
            for event in found[MOST_SKIPPED - 1 :]:
                self._titles.pop(event.step, None)
            more = plural(len(found) - MOST_SKIPPED + 1, "more operation")
            self._line(found[-1].at, "...", "", self._channel.paint("faint", f"{more} skipped{because}"))

    def _tell_retrying(self, event: StepRetrying) -> None:
        """Write that an attempt has failed; of many, as of a check that is repeated until all is ready, only some."""
        named, is_many = self._named(event), event.attempts > MANY_ATTEMPTS and not self._shows_output
        if is_many and event.next > FIRST_ATTEMPTS and event.next & (event.next - 1):
            self._untold.add(event.step)
            return
        self._untold.discard(event.step)
        again = f"attempt {event.next} of {event.attempts} in {brief(event.seconds)}"
        if is_many and event.next == FIRST_ATTEMPTS:
            again += "; from here on, not every attempt is shown"
        self._line(event.at, *named, self._channel.paint("warning", f"{failure(event.outcome)}; {again}"))

    def _begin(self, event: JobStarted) -> None:
        self._began = event.at
        longest = max(map(len, event.instances), default=0)
        self._name_width = min(max(longest, self._name_width), WIDEST_NAME)
        verb = "continue" if event.resumed else "begin"
        verb += " rolling back" if event.rolling_back else ""
        done = f", {event.done} done" if event.done else ""
        self._channel.line(f"{verb} {event.workflow}, job {event.job}: {plural(event.steps, 'step')}{done}")

    def _start(self, event: StepStarted) -> None:
        """Write that a step starts; for one that does nothing, only if there is something to say."""
        attempt = f" (attempt {event.attempt})" if event.attempt > 1 else ""
        if event.step not in self._untold and (not event.no_op or event.inputs):
            said = self._channel.paint("faint", f"start{attempt}{given(event.inputs)}")
            self._line(event.at, *self._titles[event.step], said)

    def _title(self, step: str) -> tuple[str, str]:
        """The text for a step that was running when this was last written, perhaps before a crash."""
        known = self._titles.get(step)
        instance, *operation = step.rsplit(".", 2)
        return known or (instance, title(".".join(operation)) if operation else "")

    def _named(self, event: StepSucceeded | StepFailed | StepRetrying | StepSkipped) -> tuple[str, str]:
        return self._titles.pop(event.step, (subject(event), titled(event)))

    def _success(self, outcome: Outcome) -> str:
        if outcome.ending is Ending.BY_HAND:
            return self._channel.paint("change", str(outcome.ending))
        if outcome.found:
            return f"{self._channel.paint('good', 'ok')} ({outcome.message})"
        changed = "" if outcome.changed is None else " changed" if outcome.changed else " unchanged"
        # What only looks has done its work when it says that something is broken.
        said = "ok" if outcome.status in {"", "ok"} else f"says {outcome.status}"
        why = "" if said == "ok" or not outcome.message else f": {printable(one_line(outcome.message))}"
        painted = self._channel.paint("good" if said == "ok" else "change", said)
        # What has taken no time at all stands for what others have done.
        took = f" {brief(outcome.seconds)}" if outcome.seconds else ""
        return f"{painted}{took}{changed}{why}"

    def _output(self, event: StepLog) -> None:
        instance, operation = self._title(event.step)
        bar = self._channel.paint("faint", self._channel.symbols.bar)
        for text in event.text.split("\n"):
            self._line(event.at, instance, operation, f"{bar} {printable(text)}")

    def _line(self, at: float, instance: str, operation: str, said: str) -> None:
        name, what = pad(instance or WHOLE, self._name_width), pad(operation, OPERATION_WIDTH)
        self._channel.line(f"{clock(at - self._began)} {name}  {what} {said}".rstrip())


def given(inputs: Mapping[str, object]) -> str:
    """The inputs of an operation, in brackets: `` (level=3 target=disk)``."""
    texts = (f"{name}={shorten(one_line(as_text(value)), WIDEST_INPUT, '...')}" for name, value in inputs.items())
    return f" ({' '.join(texts)})" if inputs else ""


def failure(outcome: Outcome) -> str:
    """How an operation failed, in a few words: ``exit 3 after 1.2s``."""
    if outcome.ending is Ending.FAILED and outcome.exit_code:
        said = f"exit {outcome.exit_code}"
    elif outcome.ending is Ending.FAILED and outcome.message:
        # A sentence, maybe with a hint; and where nothing was run the time says nothing.
        return f"{outcome.message} (after {took})" if (took := brief(outcome.seconds)) != NO_TIME else outcome.message
    elif outcome.ending in (Ending.NOT_STARTED, Ending.UNREACHABLE, Ending.LOST):
        return f"{outcome.ending}: {outcome.message}" if outcome.message else str(outcome.ending)
    else:
        said = str(outcome.ending)
    return f"{said} after {brief(outcome.seconds)}"


def plural(count: int, noun: str) -> str:
    """A number of things, as in "1 step" and "2 steps"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
