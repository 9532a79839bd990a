"""Testing a block: it is run once by itself, as a lifecycle step would run it, before a service names it."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.gathered import read_given
from ordito.app.requests import GivenInputs
from ordito.app.services.step_blocks import step_paths
from ordito.authoring.blocks import BlocksRequest, FoundBlocks
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.masking import Masking
from ordito.base.sensitive import revealed, sensitive_parts
from ordito.blocks.catalogue import block_files
from ordito.blocks.check import OPERATION
from ordito.executors.local import LocalExecutor
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Snapshot
from ordito.model.inputs import bind_inputs
from ordito.model.lifecycle_steps import PHASES, BlockType, LifecycleStep
from ordito.model.operation import Operation
from ordito.model.service import Service
from ordito.operations.hook_runs import (
    COMPONENT,
    CONTEXT,
    EXECUTE_RESULT,
    FQN,
    HOOK_ID,
    PHASE,
    config_variables,
    evaluated_config,
    with_paths,
)
from ordito.operations.secrecy import as_shown
from ordito.source.package import Package
from ordito.source.tree import FileTree, Folder
from ordito.syntax.expressions import Value
from ordito.work.hooks import DEFAULT_TIMEOUT
from ordito.work.invocation import Ending, Invocation, Outcome, Printed

NAME = "test"
"""The name of the step as which a block is tested."""


class BlockTestRequest(msgspec.Struct, frozen=True):
    """The test of a block: its config, whether to ``undo`` it afterwards, the folder of the archive's files (``root``),
    and the ``phase`` in which it seems to run."""

    where: BlocksRequest
    name: str
    config: GivenInputs = GivenInputs()
    undo: bool = False
    root: str = "."
    phase: str = "install.after"


class Tried(msgspec.Struct, frozen=True):
    """How an operation of a block ended: its outputs, as they may be shown, and the last lines that it printed."""

    ending: str
    exit_code: int | None
    seconds: float
    message: str
    outputs: dict[str, object]


class BlockTest(msgspec.Struct, frozen=True):
    """The result of testing a block; ``undo`` is None if that was not tried."""

    fqn: str
    version: str
    origin: str
    execute: Tried
    undo: Tried | None = None

    @property
    def succeeded(self) -> bool:
        """Whether all that was tried succeeded."""
        return all(one is None or one.ending == Ending.SUCCEEDED for one in (self.execute, self.undo))


def test_block(request: BlockTestRequest, tell: Callable[[bytes], None]) -> BlockTest:
    """Run a block in a folder of its own, and undo it if that is asked for. Its output is given to ``tell`` as it
    comes, without secrets. Raises ``InvalidDocument`` and ``Refused`` before anything is run."""
    found = FoundBlocks(request.where)
    block = found.named(request.name)[0]
    _check(block, request)
    step, config = _config(block, request)
    with tempfile.TemporaryDirectory(prefix="ordito-block-") as folder:
        root = Path(folder) / "block"
        _copy(block, found.tree(block), root)
        trial = _Trial(block, step, config, str(root), tell)
        execute, undo = asyncio.run(trial.run(Path(folder) / "slots", undo=request.undo))
    return BlockTest(block.fqn, block.version, found.origin(block), execute, undo)


def _check(block: BlockType, request: BlockTestRequest) -> None:
    if block.fqn == OPERATION:
        raise Refused(
            "not-testable",
            f"{block.fqn} runs an operation of a component of a service, and there is no service here",
            "deploy a service with a step that names it; or run the operation with `ordito run`",
        )
    if block.execute is None:
        raise Refused("bad-block", f"nothing implements {block.fqn}", "its node type needs the operation Block.execute")
    if request.undo and block.undo is None:
        raise Refused("no-undo", f"{block.fqn} {block.version} cannot be undone", "leave out --undo")
    if request.phase not in PHASES:
        raise Refused("unknown-phase", f"there is no phase {request.phase}", f"phases: {', '.join(PHASES)}")


def _config(block: BlockType, request: BlockTestRequest) -> tuple[LifecycleStep, dict[str, object]]:
    """The step as which a block is tested, and its config, checked against the types that the block declares. Raises
    ``InvalidDocument``."""
    diagnostics = Diagnostics()
    given = read_given(request.config, diagnostics)
    fields = dict(block.fields)
    unknown = [name for name in given if name not in fields]
    for name in unknown:
        diagnostics.unknown("unknown-field", f"key in the config of {block.fqn}", name, None, fields)
    service = Service(NAME, "", (), fields, {}, {}, {}, {}, dict(block.data_types))
    known = {name: value for name, value in given.items() if name not in unknown}
    bound = bind_inputs(service, known, diagnostics)
    values: dict[str, Value] = {name: revealed(value) for name, value in bound.items() if value is not None}  # type: ignore[misc]
    step = LifecycleStep(NAME, block.fqn, request.phase, config=values, block=block, name=NAME)
    if not diagnostics.has_errors:
        root = Path(request.root)
        step_paths(step, values, Package(Folder(root.resolve()), "", NAME, str(root)), diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    config, problems = evaluated_config(Evaluator(service, Snapshot(), {}), step)
    if problems:
        raise Refused("bad-value", "; ".join(problems))
    return step, with_paths(config, step, str(Path(request.root).resolve()))


def _copy(block: BlockType, tree: FileTree, root: Path) -> None:
    """Copy the files that a block runs, as they would be pinned."""
    for file in block_files(block, tree):
        target = root / file
        target.parent.mkdir(parents=True, exist_ok=True)
        with tree.open(file) as source:
            target.write_bytes(source.read())
        target.chmod(0o755 if tree.is_executable(file) else 0o644)


class _Trial:
    """Runs one block, and undoes it."""

    def __init__(
        self,
        block: BlockType,
        step: LifecycleStep,
        config: Mapping[str, object],
        root: str,
        tell: Callable[[bytes], None],
    ) -> None:
        self._block = block
        self._step = step
        self._config = config
        self._root = root
        self._tell = tell
        self._masking = Masking()
        self._masking.know(sensitive_parts(dict(config)))

    async def run(self, slots: Path, *, undo: bool) -> tuple[Tried, Tried | None]:
        executor = LocalExecutor(slots)
        assert self._block.execute is not None
        try:
            context = self._context()
            executed = await self._one(executor, "execute", self._block.execute, {CONTEXT: context})
            if not undo or self._block.undo is None or not executed.succeeded:
                return self._tried(executed), None
            result: dict[str, object] = {"config": dict(self._config), "context": context, "outputs": executed.outputs}
            documents = {CONTEXT: context, EXECUTE_RESULT: result}
            undone = await self._one(executor, "undo", self._block.undo, documents)
            return self._tried(executed), self._tried(undone)
        finally:
            executor.close()

    def _context(self) -> dict[str, object]:
        transition = self._step.phase.partition(".")[0]
        return {
            "values": {},
            "resources": {},
            "outputs": {},
            "module": {"name": NAME, "outputs": {}},
            "transition": transition,
            "phase": self._step.phase,
            "previous": {},
        }

    async def _one(
        self, executor: LocalExecutor, name: str, operation: Operation, documents: Mapping[str, Mapping[str, object]]
    ) -> Outcome:
        artifact = operation.implementation
        assert artifact is not None
        invocation = Invocation(
            job=NAME,
            step=name,
            attempt=1,
            processor=artifact.kinds[0] if artifact.kinds else "",
            root=self._root,
            artifact=artifact.file,
            environment={
                **config_variables(self._config),
                FQN: self._block.fqn,
                PHASE: self._step.phase,
                COMPONENT: "",
                HOOK_ID: NAME,
            },
            dependencies=tuple(d.file for d in operation.dependencies),
            timeout=float(operation.timeout) if operation.timeout is not None else DEFAULT_TIMEOUT,
            documents={key: json.dumps(revealed(dict(value))) for key, value in documents.items()},
        )
        outcome = Outcome(Ending.NOT_STARTED, message="it was not started")
        async for _, progress in executor.run([invocation]):
            if isinstance(progress, Printed):
                self._tell(self._masking.feed(name, progress.data))
            elif isinstance(progress, Outcome):
                outcome = progress
        self._tell(self._masking.end(name))
        return outcome

    def _tried(self, outcome: Outcome) -> Tried:
        outputs = as_shown(outcome.outputs, self._masking)
        message = self._masking.text(outcome.message)
        return Tried(str(outcome.ending), outcome.exit_code, outcome.seconds, message, outputs)
