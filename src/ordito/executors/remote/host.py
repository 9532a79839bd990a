"""One host: making it ready once, its work directories and trees, and questions about operations on it."""

from __future__ import annotations

import asyncio
import itertools
import os
import posixpath
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from shlex import quote

import msgspec

from ordito.executors.copies import Unusable
from ordito.executors.environment import folder_of
from ordito.executors.held import TAKEN_OVER
from ordito.executors.remote.commands import run_command, said
from ordito.executors.remote.connection import Connector
from ordito.executors.remote.lanes import Lanes
from ordito.executors.remote.operation_text import environment_text, words_of_epoch
from ordito.executors.remote.tree import NONE, SharedFile, SharedFiles, Trees
from ordito.executors.remote.upload import Uploads, ending_of_part
from ordito.executors.result_files import NOTHING, LeftFile
from ordito.work.invocation import Hold, Invocation
from ordito.work.targets import HostTarget, Ran

PATIENCE = 60.0
"""Seconds for a short command on a host."""

PRESSED = 2.0
"""Seconds after which a command that has not ended may be waiting for a free session on the host."""

TAKEN_OVER_STATUS = 4
"""The exit status of a shell that finds that somebody else has taken the ensemble over."""

_TOOLS = Path(__file__).with_name("tools")
_SHARED = ("shell_trap.sh", "shell_value.bash", "python_runner.py", "packages_runner.py")


class HostFacts(msgspec.Struct, frozen=True):
    """What is known of a host that is ready."""

    place: str
    """The folder of the ensemble."""

    boot: str
    """The boot id of its kernel."""

    name: str
    """Its own name."""

    packs: bool
    """Whether it has ``tar``."""


class AttemptOnHost(msgspec.Struct, frozen=True):
    """What a host knows of an attempt."""

    slot: str
    """Its work directory."""

    identity: str
    """The word that identifies it."""

    state: str
    """``running``, ``ended`` (with a status) or ``gone``."""

    pid: int
    start: int
    leads: bool
    """Whether its process leads a session of its own."""

    status: int = 0
    result: LeftFile = NOTHING
    """Its result file."""

    outputs: LeftFile = NOTHING
    """Its ``$ORDITO_OUTPUTS``."""


class RemoteHost:
    """A host during one job."""

    def __init__(
        self, connector: Connector, target: HostTarget, area: str, job: str, trees: Trees, hold: Hold | None = None
    ) -> None:
        """``area`` is the name of the ensemble: files of other ensembles are never touched. ``hold`` says how it is
        held, where others may take it over."""
        self.target = target
        self.connector = connector
        self._area = area
        self.hold = hold
        self._job = job
        self._run = f"{job}.{os.urandom(4).hex()}"
        self._trees = trees
        self._facts: HostFacts | None = None
        self._is_ready = False
        self._uploads: Uploads | None = None
        self._lock = asyncio.Lock()
        self._lanes: Lanes | None = None
        self._shared = SharedFiles(self._write)
        self._numbers = itertools.count()

    async def ready(self) -> HostFacts:
        """Make the host ready for operations, once. Raises ``Unreachable``, and ``Unusable`` with the reason."""
        if not self._is_ready or self._facts is None:
            async with self._lock:
                if not self._is_ready or self._facts is None:
                    self._facts = await self._prepare()
                    self._is_ready = True
        return self._facts

    def forget(self) -> None:
        """Check again at the next use whether the host is ready: somebody may have removed files there."""
        self._is_ready = False
        self._shared.forget()

    @property
    def facts(self) -> HostFacts:
        """What is known of a host that is ready."""
        assert self._facts is not None, "the host is ready"
        return self._facts

    @property
    def tools(self) -> str:
        """The folder of the tools on a host that is ready."""
        return f"{self._place}/{tools_name()}"

    async def tree(self, invocation: Invocation, named: Sequence[str]) -> str:
        """The folder of the service's tree on the host, with the files that the operation needs."""
        assert self._uploads is not None, "the host is ready"
        tree = self._trees.of(invocation.root, invocation.artifact, invocation.dependencies)
        return await self._uploads.bring(tree, named)

    async def helpers(self, invocation: Invocation) -> str:
        """The folder on the host of the programs that are given to an operation, "" for none."""
        if invocation.helpers is None:
            return ""
        assert self._uploads is not None, "the host is ready"
        return await self._uploads.bring(self._trees.of(folder_of(invocation.helpers), "bin", ()), ())

    async def shared(self, invocation: Invocation, tree: str) -> SharedFile:
        """The file of variables that are too large, shared by all operations that see the same; ``give_back`` it when
        the operation has ended. It has no path if the operation has a file of its own, or none."""
        if not invocation.large:
            return NONE

        def make() -> tuple[str, str]:
            text = environment_text(invocation, tree)
            return f"{self._place}/jobs/{self._run}/environment-{next(self._numbers)}" if text else "", text

        return await self._shared.take((id(invocation.large), tree), invocation.large, make)

    def give_back(self, file: SharedFile) -> None:
        """One user of a shared file has ended."""
        if file is not NONE:
            self._shared.give_back(file)

    async def _write(self, path: str, content: bytes, unneeded: Sequence[str]) -> None:
        put = 'umask 077; mkdir -p "${1%/*}" && cat >"$1" && shift && { [ $# = 0 ] || rm -f "$@"; }'
        await self.checked(["sh", "-c", put, "sh", path, *unneeded], content)

    async def find(self, identity: str, slot: str = "") -> AttemptOnHost | None:
        """What is known of an attempt; None if it never began, and from now on it cannot begin. Raises
        ``Unreachable``."""
        facts = await self.ready()
        words = ["sh", f"{self.tools}/find.sh", f"{facts.place}/jobs/{self._job}", identity, slot]
        return _found((await self.checked(words)).out, identity)

    async def end(self, found: AttemptOnHost, grace: float) -> list[int]:
        """End an operation with everything that it started; returns the ids of processes that cannot be ended."""
        leads = "leads" if found.leads else ""
        seconds = str(max(round(grace), 1))
        words = [
            "sh",
            f"{self.tools}/end.sh",
            str(found.pid),
            str(found.start),
            leads,
            found.slot,
            found.identity,
            seconds,
        ]
        ran = await self._run_command(words, timeout=grace + 2 * PATIENCE)
        return [int(word) for word in ran.out.split() if word.isdigit()]

    async def drop(self, slot: str, identity: str) -> None:
        """Forget the result of an operation that was ended from outside."""
        await self._run_command(["sh", f"{self.tools}/drop.sh", self.tools, slot, identity])

    @property
    def lanes(self) -> Lanes:
        """The shells on a host that is ready."""
        assert self._lanes is not None, "the host is ready"
        return self._lanes

    async def leave(self) -> None:
        """Remove the work directories of this job, except those with something to keep. Raises ``Unreachable``."""
        if self._facts is not None:
            words = ["sh", f"{self.tools}/listen.sh", f"{self._place}/jobs/{self._run}"]
            await self._run_command(words)
            if self._lanes is not None:
                self._lanes.close()
            text = f'cd "$1/jobs" || exit 0; {_REMOVE.format(which=quote(self._job) + ".*")}'
            await self._run_command(["sh", "-c", text, "sh", self._place])

    async def leave_again(self) -> None:
        """Remove the files that the job had there before it was interrupted, without making the host ready. Raises
        ``Unreachable``."""
        base = str(self.target.settings.get("base") or "")
        head = _head(base=base, area=self._area, job=self._job, tools=tools_name())
        await self._run_command(["sh"], (head + _BASE + _LEAVE_AGAIN).encode())

    async def remove_all(self) -> None:
        """Remove everything that the ensemble has on the host. Raises ``Unreachable``, and ``Unusable`` if that
        fails."""
        base = str(self.target.settings.get("base") or "")
        if self._area:
            text = _head(base=base, area=self._area) + _REMOVE_ALL
            await self.checked(["sh"], text.encode())

    async def checked(self, words: Sequence[str], given: bytes = b"") -> Ran:
        """Run a command that must succeed; raises ``Unusable`` if it does not."""
        ran = await self._run_command(words, given)
        if ran.status:
            raise Unusable(_not_ready(self.target.name, ran))
        return ran

    # ------------------------------------------------------------------------------------------------------- parts

    @property
    def _place(self) -> str:
        return self.facts.place

    async def _run_command(self, words: Sequence[str], given: bytes = b"", timeout: float = PATIENCE) -> Ran:
        running = asyncio.create_task(run_command(self.connector, self.target, words, given, timeout))
        try:
            done, _ = await asyncio.wait([running], timeout=PRESSED)
            if not done and self._lanes is not None:
                # Perhaps it waits for a place that is kept for nothing.
                self._lanes.finish_idle()
            return await running
        except TimeoutError:
            raise Unusable(f"{self.target.name} did not answer within {timeout:g} s") from None
        finally:
            running.cancel()

    async def _prepare(self) -> HostFacts:
        base = str(self.target.settings.get("base") or "")
        head = _head(base=base, area=self._area, job=self._run, tools=tools_name(), **words_of_epoch(self.hold))
        ran = await self._run_command(["sh"], (head + _BASE + _tool("epochs.sh") + _tool("prepare.sh")).encode())
        if ran.status == TAKEN_OVER_STATUS and self.hold is not None:
            raise Unusable(f"nothing is started on {self.target.name}: {TAKEN_OVER}")
        if ran.status:
            raise Unusable(_not_ready(self.target.name, ran))
        facts, has_tools, left = _facts(ran.out)
        if facts is None:
            raise Unusable(_not_ready(self.target.name, ran))
        self._facts = facts
        if not has_tools:
            text = _tools_text(f"{facts.place}/{tools_name()}", ending_of_part(self.target))
            await self.checked(["sh"], text.encode())
        # What an earlier job has left there must not run beside what this one does.
        await asyncio.gather(*(self.end(found, 10.0) for found in left))
        text = f'cd "$1/jobs" || exit 0; {_REMOVE.format(which="*")}'
        text = text.replace("ORDITO_KEEP", f"{self._job}.*")
        await self._run_command(["sh", "-c", text, "sh", facts.place])
        if self._lanes is None:
            folder = f"{facts.place}/jobs/{self._run}"
            self._lanes = Lanes(self.connector, self.target, f"{facts.place}/{tools_name()}", folder)
        self._uploads = Uploads(self.connector, self.target, facts.place, packs=facts.packs, trees=self._trees)
        return facts


_BASE = """[ -n "$ordito_base" ] || ordito_base=${HOME:?there is no home directory}/.ordito
case $ordito_base in /*) ;; *) ordito_base=$HOME/${ordito_base#\\~/} ;; esac
ordito_place=$ordito_base/$ordito_area
"""
"""The shell text that finds the folder of the ensemble."""

_REMOVE_ALL = (
    _BASE
    + """cd / || exit 1
rm -rf "$ordito_place" 2>/dev/null || { chmod -R u+rwx "$ordito_place"; rm -rf "$ordito_place"; } 2>/dev/null
rmdir "$ordito_base" 2>/dev/null
[ ! -e "$ordito_place" ]
"""
)
"""The shell text that removes everything of the ensemble, and the folder of all ensembles with the last one."""


def _head(**told: str) -> str:
    """The beginning of a shell text, which sets its variables."""
    return "".join(f"ordito_{name}={quote(value)}\n" for name, value in told.items())


_REMOVE = """for run in {which}; do
    case $run in ORDITO_KEEP) continue ;; esac
    [ -d "$run" ] || continue
    for slot in "$run"/*; do
        [ -e "$slot/kept" ] || rm -rf "$slot" 2>/dev/null || {{ chmod -R u+rwx "$slot"; rm -rf "$slot"; }} 2>/dev/null
    done
    rmdir "$run" 2>/dev/null
done
exit 0"""
"""The shell text that removes the work directories of runs, except those with something to keep."""

_LEAVE_AGAIN = """rm -rf "$ordito_place/ansible"
cd "$ordito_place/jobs" 2>/dev/null || exit 0
for run in "$ordito_job".*; do
    [ ! -d "$run" ] || sh "$ordito_place/$ordito_tools/listen.sh" "$ordito_place/jobs/$run"
done
""" + _REMOVE.format(which='"$ordito_job".*')
"""The shell text that takes over reading the output of the daemons of a job, and removes its work directories and the
files of Ansible, which no longer runs."""


@cache
def _tool(name: str) -> str:
    return (_TOOLS / name).read_text(encoding="utf-8")


@cache
def _tools() -> Mapping[str, str]:
    """The files in the folder of tools on a host, by name."""
    names = sorted(p.name for p in _TOOLS.glob("*.sh") if p.name != "prepare.sh")
    own = {name: _tool(name) for name in names}
    return {**own, **{n: (_TOOLS.parent.parent / n).read_text(encoding="utf-8") for n in _SHARED}}


@cache
def tools_name() -> str:
    """The name of the folder of tools, which changes with their content."""
    digest = blake2b("\0".join(f"{n}\0{t}" for n, t in _tools().items()).encode(), digest_size=6)
    return f"tools-{digest.hexdigest()}"


def _tools_text(folder: str, ending: str) -> str:
    """A shell text that writes the tools, with nothing but ``cat``, where nobody else has done so meanwhile."""
    part, place = quote(f"{folder}{ending}"), quote(folder)
    lines = ["umask 077", f"mkdir -p {part} || exit 1"]
    for name, text in _tools().items():
        lines += [f"cat >{part}/{name} <<'END-OF-ORDITO-TOOL' || exit 1", f"{text}END-OF-ORDITO-TOOL"]
    # By a rename, so that what has that name is whole; one that comes second ends up in the first.
    lines += [
        f"[ -d {place} ] || mv {part} {place}",
        f"rm -rf {part} {place}/{quote(posixpath.basename(folder) + ending)}",
    ]
    return "\n".join(lines) + "\n"


def _facts(out: bytes) -> tuple[HostFacts | None, bool, list[AttemptOnHost]]:
    place, facts, has_tools, left = "", None, False, []
    for line in out.decode(errors="surrogateescape").splitlines():
        kind, _, rest = line.removeprefix("ordito ").partition(" ")
        if not line.startswith("ordito "):
            # A host may greet whoever comes.
            continue
        if kind == "host":
            place = rest
        elif kind == "about":
            boot, tools, packs, name = rest.split(" ", 3)
            facts, has_tools = HostFacts(place, boot, name, packs == "1"), tools == "1"
        elif kind == "open":
            pid, start, leads, word, slot = rest.split(" ", 4)
            left.append(AttemptOnHost(slot, word, "running", int(pid), int(start), leads == "setsid"))
    return facts, has_tools, left


def _found(out: bytes, identity: str) -> AttemptOnHost | None:
    at = out.find(b"slot /")
    if at < 0:
        return None
    slot, began, state, rest = out[at:].split(b"\n", 3)
    pid, start = (int(word) for word in began.split()[1:3])
    word, _, status = state.decode().partition(" ")
    result, rest = _sized(rest)
    outputs, _ = _sized(rest)
    path = slot.removeprefix(b"slot ").decode(errors="surrogateescape")
    return AttemptOnHost(
        path, identity, word, pid, start, began.endswith(b" setsid"), int(status or 0), result, outputs
    )


def _sized(data: bytes) -> tuple[LeftFile, bytes]:
    line, _, rest = data.partition(b"\n")
    _, count, why = line.decode(errors="replace").split(" ", 2)
    size = int(count)
    return LeftFile(rest[:size], why), rest[size:]


def _not_ready(name: str, ran: Ran) -> str:
    why = said(ran.err) or f"a shell there ended with {ran.status}"
    todo = 'make room there, or choose a folder that can be written to (setting "base")'
    return f"{name} is not ready for operations: {why}; {todo}"
