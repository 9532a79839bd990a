"""The config of a lifecycle step, evaluated when the step begins: of the types that its block declares, with absolute
paths in the place of those of the service's archive."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.paths import below
from ordito.base.sensitive import Sensitive, revealed
from ordito.base.text import as_text, shell_name
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.sensitivity import Marks
from ordito.work.attribute_values import WrongValue, fitting

Types = Mapping[str, DataType]

ARCHIVE_PATH = "ordito.datatypes.ArchivePath"
"""The type of texts that name a file or folder of the service's archive."""

PINS = "ordito-pins:/"
"""Stands at the beginning of a path for the folder in which the ensemble keeps pinned files, which may be another one
when a step is undone."""

PREFIX = "CONFIG_"
"""Stands before the name of a key where a block finds its value in a variable."""


def evaluated_config(evaluator: Evaluator, step: LifecycleStep) -> tuple[dict[str, object], list[str]]:
    """The values of a step's config as things are now, parts of which may be sensitive, and what is wrong with it. SELF
    is the first instance of the step's component."""
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
    """A value of the type that is declared for it. Raises ``WrongValue``."""
    marks = Marks(data_types)
    value = marks.wrap(value, marks.by(definition.schema, definition.metadata))
    return fitting(value, definition.schema, data_types)


def types_of(step: LifecycleStep) -> Types:
    """The data types of which the config of a step is made."""
    return step.block.data_types if step.block is not None else {}


def with_paths(config: Mapping[str, object], step: LifecycleStep, root: str) -> dict[str, object]:
    """A config with the paths of the files of the archive that it names; ``root`` is that of the archive."""
    known, types = step.definitions, types_of(step)
    return {k: _placed(v, known[k].schema, root, types) if k in known else v for k, v in config.items()}


def with_pins(data: object, folder: str) -> object:
    """Data with an absolute folder where ``PINS`` stands. The depth of data is bounded where it is read, so recursion
    is safe here."""
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
    """A config as a block finds it in its variables, secrets included: under a name that shells take as well, where a
    key is none."""
    texts = {f"{PREFIX}{key}": as_text(revealed(value)) for key, value in config.items()}
    return {**{shell_name(name): text for name, text in texts.items()}, **texts}
