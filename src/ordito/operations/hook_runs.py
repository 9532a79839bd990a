"""Running lifecycle steps, and what undoes them: whether they are needed, what their block is run with, and what comes
of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ordito.base.masking import Masking
from ordito.base.paths import above, below, from_above, levels_above
from ordito.base.sensitive import Sensitive, revealed, sensitive_parts
from ordito.base.text import as_text, shell_name
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.sensitivity import Marks
from ordito.operations.hook_contexts import HookContexts
from ordito.operations.preparing import PreparedStep
from ordito.operations.secrecy import as_shown, without_secrets
from ordito.work.hooks import Block, BlockScript, Decided, Decides, Hook, HookResult
from ordito.work.invocation import Ending, Invocation, Outcome
from ordito.work.outputs import WrongValue, fitting
from ordito.work.plan import Action, Plan, Step

FQN, PHASE, COMPONENT, HOOK_ID = "ORDITO_FQN", "ORDITO_PHASE", "ORDITO_COMPONENT", "ORDITO_HOOK"
CONTEXT = "ORDITO_CONTEXT"
EXECUTE_RESULT = "ORDITO_EXECUTE_RESULT"

FolderOf = Callable[[Block], str]
"""Gives the absolute folder of a block's pinned files."""


class HookRuns:
    """The lifecycle steps of one job's plan."""

    def __init__(  # noqa: PLR0913  (what a lifecycle step is made of)
        self,
        plan: Plan,
        evaluator: Evaluator,
        contexts: HookContexts,
        masking: Masking,
        *,
        job: str,
        root: str,
        pins: str,
        folder_of: FolderOf,
        decides: Decides,
        variables: Mapping[str, object] | None = None,
    ) -> None:
        """``root`` is the absolute folder of the pinned service, ``pins`` the folder of all pins of the ensemble;
        ``variables`` are given to every operation."""
        self._plan = plan
        self._evaluator = evaluator
        self._contexts = contexts
        self._masking = masking
        self._job = job
        self._root = root
        self._pins = pins
        self._folder_of = folder_of
        self._decides = decides
        self._common = {name: str(revealed(value)) for name, value in (variables or {}).items()}
        self._decided: dict[str, Decided] = {}
        self._results: dict[str, HookResult] = {}

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""
        self._plan = plan

    def hook(self, step: Step) -> Hook:
        """The lifecycle step that a step of the plan carries out, or undoes."""
        return self._plan.undone[step.hook].hook if step.action is Action.UNDO else self._plan.hooks[step.hook]

    # ------------------------------------------------------------------------------------------ before the start

    def needless(self, step: Step) -> str:
        """Why a step is not carried out, "" if it is: its condition does not hold. A step that undoes another one has
        no condition."""
        if step.action is Action.UNDO:
            return ""
        decided = self._decide(step)
        text = self.hook(step).condition
        return "" if decided.holds or decided.problem else f"its condition does not hold: {text}"

    def problem(self, step: Step) -> str:
        """Why the condition of a step could not be evaluated, so that the step fails; "" for others."""
        problem = "" if step.action is Action.UNDO else self._decide(step).problem
        return self._masking.text(f"its condition cannot be evaluated: {problem}") if problem else ""

    def prepare(self, step: Step, attempt: int) -> PreparedStep:
        """The invocation of a step's block, with everything evaluated now; or why it cannot start. Neither if there is
        nothing to run."""
        if step.action is Action.UNDO:
            return self._prepared_undo(step, attempt)
        hook = self.hook(step)
        declared = self._evaluator.service.hooks.get(hook.id)
        if declared is None:
            return self._refused("the service that was deployed does not have this lifecycle step")
        config, problems = evaluated_config(self._contexts.evaluator(hook), declared)
        self._masking.know(sensitive_parts(config))
        if problems:
            return self._refused("; ".join(problems))
        if hook.block.execute is None and not hook.block.is_operation:
            return self._refused(f"{hook.block.fqn} {hook.block.version} has no implementation")
        given = self._given(declared, config)
        context = self._contexts.of(hook)
        self._masking.know(sensitive_parts(context))
        recorded = context if hook.block.undo is not None else {}
        self._results[step.id] = HookResult(given, recorded, {}, self._condition(step))
        if hook.block.execute is None:
            return PreparedStep()
        return PreparedStep(
            self._invocation(step, attempt, hook, hook.block.execute, given, {CONTEXT: context}, hook.timeout)
        )

    def _prepared_undo(self, step: Step, attempt: int) -> PreparedStep:
        done = self._plan.undone[step.hook]
        hook, result = done.hook, done.result
        if hook.block.is_operation:
            return PreparedStep()
        if hook.block.undo is None:
            return self._refused(f"{hook.block.fqn} {hook.block.version} cannot be undone")
        self._masking.know(sensitive_parts([result.config, result.context, result.outputs]))
        executed = {"config": result.config, "context": result.context, "outputs": result.outputs}
        documents = {CONTEXT: result.context, EXECUTE_RESULT: executed}
        self._results[step.id] = HookResult(config=result.config)
        timeout = hook.block.undo.timeout or hook.timeout
        return PreparedStep(self._invocation(step, attempt, hook, hook.block.undo, result.config, documents, timeout))

    def _given(self, declared: LifecycleStep, config: Mapping[str, object]) -> Mapping[str, object]:
        """A config as it is recorded: paths of pinned files begin with ``PINS``."""
        inside = self._root.startswith(f"{self._pins}/")
        root = f"{PINS}{self._root.removeprefix(self._pins).lstrip('/')}" if inside else self._root
        return with_paths(config, declared, below(root, declared.root))

    def _invocation(
        self,
        step: Step,
        attempt: int,
        hook: Hook,
        script: BlockScript,
        config: Mapping[str, object],
        documents: Mapping[str, Mapping[str, object]],
        timeout: float,
    ) -> Invocation:
        own = {
            FQN: hook.block.fqn,
            PHASE: hook.phase,
            COMPONENT: hook.component,
            HOOK_ID: hook.id,
        }
        files = (script.artifact, *script.dependencies)
        folder, levels = self._folder_of(hook.block), max(map(levels_above, files))
        return Invocation(
            job=self._job,
            step=step.id,
            attempt=attempt,
            processor=script.processor,
            root=above(folder, levels),
            artifact=from_above(folder, levels, script.artifact),
            environment={**self._common, **config_variables(self._at_hand(config)), **own},
            dependencies=tuple(from_above(folder, levels, d) for d in script.dependencies),
            timeout=timeout,
            documents={name: _json(self._at_hand(document)) for name, document in documents.items()},
        )

    def _at_hand(self, data: Mapping[str, object]) -> dict[str, object]:
        """A recorded config, with the present paths of pinned files."""
        return {name: with_pins(value, self._pins) for name, value in data.items()}

    def _refused(self, why: str) -> PreparedStep:
        return PreparedStep(refusal=self._masking.text(why))

    # --------------------------------------------------------------------------------------------------- the end

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        """The outcome of a step without secrets, as it may be recorded and shown."""
        return without_secrets(outcome, self._masking, ()) if self._masking.is_active else outcome

    def result(self, step: Step, outcome: Outcome) -> HookResult:
        """What a step was run with, and what came of it; of one that did not start only its condition."""
        if step.instance:
            return HookResult(condition=self._condition(step))
        found = self._results.get(step.id)
        if found is None and outcome.ending is not Ending.NOT_STARTED and self.hook(step).id not in self._decided:
            # It ended while nobody looked: what it was given is what it would be given now.
            self.prepare(step, 1)
            found = self._results.get(step.id)
        if found is None:
            return HookResult(condition=self._condition(step))
        return msgspec.structs.replace(found, outputs=outcome.outputs) if outcome.succeeded else found

    # ------------------------------------------------------------------------------------------------- conditions

    def _decide(self, step: Step) -> Decided:
        """The decision about the condition of a step; made once, right before the step begins."""
        hook = self.hook(step)
        decided = self._decided.get(hook.id)
        if decided is None:
            decided = Decided(holds=True)
            if hook.condition:
                decided = self._decides(hook.condition, self._contexts.of(hook))
            self._decided[hook.id] = decided
        return decided

    def _condition(self, step: Step) -> dict[str, object]:
        """How the condition of a step was decided, without secrets."""
        if step.action is Action.UNDO or not self.hook(step).condition:
            return {}
        decided = self._decide(step)
        answer: dict[str, object] = {"error": decided.problem} if decided.problem else {"holds": decided.holds}
        return {"text": self.hook(step).condition, **answer, "values": as_shown(dict(decided.values), self._masking)}


def _json(document: object) -> str:
    return msgspec.json.encode(revealed(document)).decode()


# The config of a lifecycle step, evaluated when the step begins: of the types that its block declares, with absolute
# paths in the place of those of the service's archive.

Types = Mapping[str, DataType]

ARCHIVE_PATH = "ordito.datatypes.ArchivePath"
"""The type of strings that name a file or folder of the service's archive."""

PINS = "ordito-pins:/"
"""The beginning of a recorded path, in place of the folder with the pins of the ensemble, which may have moved when a
step is undone."""

PREFIX = "CONFIG_"
"""The prefix of the variables in which a block finds the values of its config."""


def evaluated_config(evaluator: Evaluator, step: LifecycleStep) -> tuple[dict[str, object], list[str]]:
    """The present values of a step's config, parts of which may be sensitive, and what is wrong with it. SELF is the
    first instance of the step's component."""
    is_known = evaluator.service.template(step.component) is not None
    first = next((i.id for i in evaluator.snapshot.of_node(step.component) if i.created), "")
    context = Context(node=step.component if is_known else "", instance=first)
    types = types_of(step)
    found: dict[str, object] = {}
    problems: list[str] = []
    for key, written in step.config.items():
        definition = step.definitions.get(key)
        try:
            value = evaluator.evaluate(written, context)
            if value is None or isinstance(value, Nothing):
                if definition is not None and definition.required:
                    reason = value.reason if isinstance(value, Nothing) else "it is null"
                    problems.append(f'config "{key}" has no value: {reason}')
                continue
            found[key] = value if definition is None else _fitting(value, definition, types)
        except (EvaluationError, WrongValue) as error:
            problems.append(f'config "{key}" cannot be used: {error}')
    return found, problems


def _fitting(value: object, definition: PropertyDefinition, data_types: Types) -> object:
    """A value checked against its declared type. Raises ``WrongValue``."""
    marks = Marks(data_types)
    value = marks.wrap(value, marks.by(definition.schema, definition.metadata))
    return fitting(value, definition.schema, data_types)


def types_of(step: LifecycleStep) -> Types:
    """The data types that the config of a step uses."""
    return step.block.data_types if step.block is not None else {}


def with_paths(config: Mapping[str, object], step: LifecycleStep, root: str) -> dict[str, object]:
    """A config with absolute paths of the files of the archive that it names; ``root`` is the folder of the archive."""
    known, types = step.definitions, types_of(step)
    return {k: _placed(v, known[k].schema, root, types) if k in known else v for k, v in config.items()}


def with_pins(data: object, folder: str) -> object:
    """Data with an absolute folder in place of ``PINS``. The depth of data is bounded when it is read, so recursion is
    safe here."""
    if isinstance(data, str):
        return f"{folder}/{data.removeprefix(PINS)}" if data.startswith(PINS) else data
    if isinstance(data, Sensitive):
        return Sensitive(with_pins(data.reveal(), folder))
    if isinstance(data, Mapping):
        return {key: with_pins(value, folder) for key, value in data.items()}
    return [with_pins(item, folder) for item in data] if isinstance(data, list) else data


def _placed(value: object, schema: Schema | None, root: str, types: Types) -> object:
    """A value with the absolute paths of the files that it names. How deep types are nested is bounded by the loader,
    so recursion is safe here."""
    if schema is None:
        return value
    if isinstance(value, Sensitive):
        return Sensitive(_placed(value.reveal(), schema, root, types))
    declared = types.get(schema.type)
    if isinstance(value, str):
        is_path = schema.type == ARCHIVE_PATH or (declared is not None and ARCHIVE_PATH in declared.kinds)
        return below(root, value) if is_path else value
    entry = schema.entry or (declared.entry if declared is not None else None)
    if isinstance(value, list):
        return [_placed(item, entry, root, types) for item in value]
    if isinstance(value, Mapping):
        fields = declared.properties if declared is not None and not declared.base else {}
        schemas = {k: fields[k].schema if k in fields else entry for k in value}
        return {k: _placed(v, schemas[k], root, types) for k, v in value.items()}
    return value


def config_variables(config: Mapping[str, object]) -> dict[str, str]:
    """A config as variables of a block, secrets included; a key that is no name for shells is also there under one that
    is."""
    texts = {f"{PREFIX}{key}": as_text(revealed(value)) for key, value in config.items()}
    return {**{shell_name(name): text for name, text in texts.items()}, **texts}
