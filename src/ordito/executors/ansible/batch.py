"""One process of Ansible for all instances of a batch, from the files that it reads to the outcomes of its steps."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ordito.base.sensitive import revealed
from ordito.executors.ansible.files import (
    BATCH,
    INVENTORY,
    MARK,
    PRIVATE,
    RESULTS,
    BatchStep,
    Contents,
    outcome_of_host,
    remove_secrets,
    write_private,
)
from ordito.executors.ansible.inventory import SELF, inventory_of, words_into
from ordito.executors.ansible.program import (
    CONFIGURATION,
    USUAL,
    end_in_containers,
    end_masters,
    environment_of,
    holds_plugins,
)
from ordito.executors.copies import (
    CopyJob,
    Unusable,
    in_tree,
    make_copies,
    make_own_copies,
    own_files,
    planned_copies,
    remove_copies,
)
from ordito.executors.held import LaunchGate
from ordito.executors.operation_process import (
    TAIL_LINES,
    OperationProcess,
    ProcessEnd,
    ProcessListener,
    ProcessTimeouts,
)
from ordito.executors.output_pipe import Stream, Watch
from ordito.executors.process_table import JOB, OUTPUTS, STEP, Marker
from ordito.executors.script_tree import build, filled, runs_in_place
from ordito.executors.slots import WorkDirectory, empty, is_empty, remove
from ordito.executors.spawn import ProcessCommand
from ordito.work.inventory import OperationSubject
from ordito.work.invocation import Ending, Invocation, Outcome, Printed, Progress
from ordito.work.targets import CONTAINER

MOST_FORKS = 50
RESERVED_NAME = b"[WARNING]: Found variable using reserved name"

STOPPED = {
    Ending.CANCELLED: "in doubt: it was ended while it was running",
    Ending.TIMED_OUT: "timed out after {timeout:g} s, and with it the whole batch of {count}",
}

UNFOUND = re.compile(r"Could not find|not find or access|was not found", re.IGNORECASE)
GONE = frozenset({Ending.UNREACHABLE, Ending.LOST})

Told = Stream[tuple[str, Progress | BaseException]]
"""Reports about steps; an exception is a fault of the program, to be raised by the reader."""


class Ticket(msgspec.Struct, frozen=True):
    """A step that waits for a batch, and the stream that gets reports about it."""

    invocation: Invocation
    subject: OperationSubject
    stream: Told


class Tools(msgspec.Struct, frozen=True):
    """What an executor gives to each batch."""

    program: str
    """The file of ``ansible-playbook``."""

    base: Mapping[str, str]
    """The basic variables of the environment."""

    area: str
    """The folder of all work directories."""

    patience: ProcessTimeouts
    left: Callable[[int], None]
    """Called with the id of a child process that outlives its operation."""

    watch: Watch
    """Watches descriptors."""

    there: str = ""
    """The name below which the ensemble keeps its files on hosts."""

    gate: LaunchGate | None = None
    """Lets playbooks begin, where others may take the ensemble over."""


class Batch:
    """Runs a playbook for the instances of some steps. ``run`` reports about each of them until its outcome."""

    def __init__(self, tickets: Sequence[Ticket], slot: WorkDirectory, tools: Tools) -> None:
        self.slot = slot
        self._tools = tools
        self._tickets = {t.invocation.step: t for t in tickets}
        self._by_host = {t.subject.instance: t for t in tickets}
        self._first = tickets[0].invocation
        self._ended: asyncio.Future[ProcessEnd] = asyncio.get_running_loop().create_future()
        self._process: OperationProcess | None = None
        self._sockets = ""
        self._rest = b""
        self._plain: list[bytes] = []
        self._is_idle_talk = False
        self._copies: list[CopyJob] = []
        self._asked: Ending | None = None
        self._was_ended = False
        self._outcomes: list[tuple[Ticket, Outcome]] = []
        self._contents: Contents | None = None

    @property
    def steps(self) -> frozenset[str]:
        """The steps of the batch."""
        return frozenset(self._tickets)

    async def run(self) -> None:
        """Run it to its end. Nothing of it runs any more when the outcomes are reported."""
        try:
            await self._run()
        except Unusable as problem:
            self._end_all(Outcome(Ending.NOT_STARTED, message=str(problem)))
        except (OSError, ValueError) as error:
            self._end_all(Outcome(Ending.NOT_STARTED, message=f"{self._first.artifact} was not started: {error}"))
        finally:
            if self._process is not None and not self._ended.done():
                await self.end(Ending.CANCELLED)
            await asyncio.to_thread(self._clean)
        for ticket, outcome in self._outcomes:
            ticket.stream.put((ticket.invocation.step, outcome))

    async def end(self, ending: Ending) -> None:
        """End it with everything that it started; returns when that is done."""
        self._asked = self._asked or ending
        task = self._process.end(ending) if self._process is not None else None
        if task is not None:
            await asyncio.shield(task)

    def resume(self) -> None:
        """Go on reading output: there is room for it again."""
        if self._process is not None:
            self._process.resume()

    # ------------------------------------------------------------------------------------------------ before it runs

    async def _run(self) -> None:
        command = await asyncio.to_thread(self._prepared)
        if (gate := self._tools.gate) is not None:
            await gate.be_sure()
        # Also while it was waited until it may start.
        if self._asked is not None:
            self._end_all(Outcome(Ending.CANCELLED, message="cancelled before it was started"))
            return
        if not self._tickets:
            return
        if gate is None:
            self._process = self._begun(command)
        else:
            with gate.launching(self._mark):
                self._process = self._begun(command)
        started = self._process.started(self.slot.path)
        for step, ticket in self._tickets.items():
            ticket.stream.put((step, started))
        self._judge(await self._ended)
        if gate is not None:
            gate.has_ended(self._mark)

    @property
    def _mark(self) -> Marker:
        assert self._contents is not None
        return Marker(self._first.job, self._contents.marker, self._tools.area)

    def _begun(self, command: ProcessCommand) -> OperationProcess:
        return OperationProcess(
            command,
            self._mark,
            self._first.timeout,
            self._tools.patience,
            ProcessListener(self._take, self._ended.set_result, self._tools.left),
            self._tools.watch,
        )

    def _prepared(self) -> ProcessCommand:
        """Write everything that Ansible reads; returns the command."""
        first, slot = self._first, self.slot
        path = in_tree(first.root, first.artifact)
        if first.files:
            self._copies = planned_copies([f for f in first.files if not f.own], first.root, slot.work)
            make_copies(self._copies, first.job, first.step, slot)
            make_own_copies(own_files((f for f in first.files if f.own), first.root, slot.work))
        texts = filled(first, slot.work)
        if texts or not runs_in_place(first.artifact, first.dependencies):
            path = build(first.root, first.artifact, first.dependencies, slot.tree, texts)
        for dependency in first.dependencies:
            in_tree(first.root, dependency)
        for folder in (RESULTS, PRIVATE):
            Path(f"{slot.path}/{folder}").mkdir(mode=0o700)
        batch = [(t.invocation, t.subject) for t in self._tickets.values()]
        inventory, unfit = inventory_of(batch, self._keep, slot.work, self._tools.there)
        for instance, why in unfit.items():
            self._tell_end(self._by_host[instance], Outcome(Ending.UNREACHABLE, message=why))
        write_private(f"{slot.path}/{INVENTORY}", msgspec.json.encode(inventory))
        self._contents = self._described()
        write_private(f"{slot.path}/{BATCH}", msgspec.json.encode(self._contents))
        return self._command(path)

    def _described(self) -> Contents:
        self._sockets = tempfile.mkdtemp(prefix="ordito-")
        tickets = enumerate(self._tickets.values())
        targets = [t.invocation.target for t in self._tickets.values() if t.invocation.target is not None]
        return Contents(
            results=f"{self.slot.path}/{RESULTS}",
            folders=(self.slot.tree, self._first.root.rstrip("/")),
            steps={
                t.subject.instance: BatchStep(
                    t.invocation.job, t.invocation.step, t.invocation.attempt, number, t.invocation.outputs
                )
                for number, t in tickets
            },
            marker=f"batch {self.slot.path.rpartition('/')[2]}",
            sockets=self._sockets,
            containers=tuple({words_into(t): None for t in targets if t.protocol == CONTAINER}),
        )

    def _keep(self, purpose: str, text: str) -> str:
        """Keep a text that may be secret in a file; returns its path. The same text for the same purpose is kept
        once."""
        name = re.sub(r"[^A-Za-z0-9]+", "-", purpose)
        path = f"{self.slot.path}/{PRIVATE}/{name}-{abs(hash(text)):x}"
        if not os.path.lexists(path):
            write_private(path, text.encode() if text.endswith("\n") else f"{text}\n".encode())
        return path

    def _command(self, playbook: str) -> ProcessCommand:
        slot = self.slot
        folder = playbook.rpartition("/")[0]
        beside = f"{folder}/{CONFIGURATION}"
        configuration = beside
        if not Path(beside).is_file():
            configuration = f"{slot.path}/{PRIVATE}/{CONFIGURATION}"
            write_private(configuration, USUAL.encode())
        environment = environment_of(
            self._tools.base, work=slot.work, settings=f"{slot.path}/{BATCH}", configuration=configuration
        )
        assert self._contents is not None
        environment |= {
            JOB: self._first.job,
            STEP: self._contents.marker,
            OUTPUTS: slot.outputs,
            "ANSIBLE_SSH_CONTROL_PATH_DIR": self._sockets,
        }
        if holds_plugins(folder):
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        arguments = [self._tools.program, "-i", f"{slot.path}/{INVENTORY}", "--limit", SELF]
        arguments += ["--forks", str(max(5, min(MOST_FORKS, len(self._tickets)))), *self._settings(), playbook]
        return ProcessCommand(self._tools.program, arguments, environment, slot.work)

    def _settings(self) -> list[str]:
        """The options of ``ansible-playbook`` that the properties of the artifact ask for."""
        settings = revealed(dict(next(iter(self._tickets.values())).subject.settings)) if self._tickets else {}
        assert isinstance(settings, Mapping)
        arguments = ["--become"] if settings.get("become") else []
        for name, option in (("become_user", "--become-user"), ("tags", "--tags"), ("skip_tags", "--skip-tags")):
            value = settings.get(name)
            if value:
                arguments += [option, ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)]
        if settings.get("vault_password"):
            arguments += ["--vault-password-file", self._keep("vault", str(settings["vault_password"]))]
        return arguments

    # ------------------------------------------------------------------------------------------------ while it runs

    def _take(self, data: bytes) -> bool:
        """Take what Ansible has printed."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)
        full = [t.stream for t in self._tickets.values() if t.stream.is_full]
        if full:
            full[0].hold(self)
        return not full

    def _line(self, line: bytes) -> None:
        if not line.startswith(MARK):
            self._take_plain(line)
            return
        try:
            hosts, text = msgspec.json.decode(line[len(MARK) :], type=tuple[list[str], str])
        except msgspec.DecodeError:
            return
        self._print([host for host in hosts if host in self._by_host], text.encode("utf-8", "surrogatepass"))

    def _take_plain(self, line: bytes) -> None:
        """Report a message of Ansible itself to all steps."""
        if line.startswith(b"["):
            # Inputs may have the names of keywords, which does no harm; the warning goes on for several lines.
            self._is_idle_talk = line.startswith(RESERVED_NAME)
        if line.strip() and not self._is_idle_talk:
            self._plain.append(line)
            self._print(self._by_host, line)

    def _print(self, hosts: Sequence[str] | Mapping[str, object], line: bytes) -> None:
        printed = Printed(line + b"\n")
        for host in hosts:
            ticket = self._by_host[host]
            if ticket.invocation.step in self._tickets:
                ticket.stream.put((ticket.invocation.step, printed), len(line))

    # ----------------------------------------------------------------------------------------------- after it has run

    def _judge(self, ended: ProcessEnd) -> None:
        """Report the outcome of each step."""
        self._was_ended = ended.ending is not None
        if self._rest:
            self._line(self._rest)
        assert self._contents is not None
        for step in self._contents.steps.values():
            ticket = self._tickets.get(step.step)
            if ticket is not None:
                found = outcome_of_host(self.slot, step, step.outputs)
                if ended.ending is not None and found is not None and found.ending not in GONE:
                    # What it wrote when it was told to end is not how it ended.
                    found = None
                outcome = found or self._without_result(ended)
                self._tell_end(ticket, msgspec.structs.replace(outcome, seconds=ended.seconds))

    def _without_result(self, ended: ProcessEnd) -> Outcome:
        """The outcome of a step for whose host there is no result."""
        if ended.ending is not None:
            message = STOPPED[ended.ending].format(timeout=self._first.timeout or 0, count=len(self._by_host))
            if ended.unended:
                message += f"; processes that cannot be ended: {', '.join(map(str, ended.unended))}"
            return Outcome(ended.ending, message=message)
        said = [line.decode(errors="replace").strip() for line in self._plain]
        message = f"ansible-playbook ended with exit {ended.status}: {_problem_in(said)}".removesuffix(": ")
        for folder in self._contents.folders if self._contents is not None else ():
            message = message.replace(f"{folder}/", "")
        # What it has not read it has not begun.
        began = ended.status < 0 or not is_empty(f"{self.slot.path}/{RESULTS}")
        ending = Ending.FAILED if began else Ending.NOT_STARTED
        return Outcome(ending, message=message, tail=tuple(said[-TAIL_LINES:]))

    def _tell_end(self, ticket: Ticket, outcome: Outcome) -> None:
        if self._tickets.pop(ticket.invocation.step, None) is not None:
            self._outcomes.append((ticket, outcome))

    def _end_all(self, outcome: Outcome) -> None:
        for ticket in list(self._tickets.values()):
            self._tell_end(ticket, outcome)

    def _clean(self) -> None:
        """Remove everything except what tells how it ended."""
        remove_secrets(self.slot)
        if self._sockets:
            end_masters(self._sockets)
        if self._contents is not None and self._was_ended:
            end_in_containers(self._contents.containers, self._contents.marker)
        if self._copies:
            remove_copies(self._copies, self.slot)
        kept = [c.target for c in self._copies if not c.remove and c.target.startswith(f"{self.slot.work}/")]
        if kept:
            write_private(self.slot.kept, b"")
        remove(self.slot.tree)
        empty(self.slot.work, kept)


def _problem_in(said: Sequence[str]) -> str:
    """What Ansible says about a fault of the whole playbook, in one line."""
    at = next((index for index, line in enumerate(said) if line.startswith(("[ERROR]", "ERROR!"))), None)
    if at is None:
        return said[-1] if said else ""
    told = itertools.takewhile(lambda line: not line.startswith(("Origin:", "[", "ERROR!")), said[at + 1 : at + 2])
    problem = " ".join([said[at].removeprefix("[ERROR]: ").removeprefix("ERROR! "), *told])
    if UNFOUND.search(problem):
        problem += "; files that a playbook includes must be among its dependencies"
    return problem
