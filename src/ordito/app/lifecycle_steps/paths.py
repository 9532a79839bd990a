"""The files and folders of a service's archive that the config of its lifecycle steps names."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import leaves_root
from ordito.base.sensitive import is_sensitive, revealed
from ordito.instances.evaluate import STATIC
from ordito.instances.static_steps import StaticConfig
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.schema import DataType, Schema
from ordito.source.package import Package
from ordito.source.parts import span_inside
from ordito.syntax.expressions import Value, calls

ARCHIVE_PATH = "ordito.datatypes.ArchivePath"
MISSING_FILE = "missing-artifact"


class _Named(msgspec.Struct, frozen=True):
    """A path in a config, and the keys and indexes that lead to it."""

    path: str
    at: tuple[str | int, ...]


def step_paths(step: LifecycleStep, config: StaticConfig, package: Package, diagnostics: Diagnostics) -> list[str]:
    """The files and folders that a step names, relative to the root of the service; those that are not there, or not
    known before anything runs, are reported. ``config`` is what is known of its config."""
    types = step.block.data_types if step.block is not None else {}
    found: list[str] = []
    for key, definition in step.definitions.items():
        if key in config:
            for named in _paths(revealed(config[key]), definition.schema, types, ()):
                problem = _problem(named.path, package, is_secret=is_sensitive(config[key]))
                if problem:
                    _report(step, key, named, problem, diagnostics)
                else:
                    found.append(posixpath.normpath(named.path))
        elif _is_found_out(step.config.get(key)) and _holds_paths(definition.schema, types):
            diagnostics.error(
                "bad-value",
                f'"{key}" names files of the archive, which must be known before anything runs',
                step.spans.get(f"config.{key}") or step.span,
                hint="write the path, or take it from an input",
            )
    return found


def _report(step: LifecycleStep, key: str, named: _Named, problem: str, diagnostics: Diagnostics) -> None:
    place = step.spans.get(f"config.{key}")
    diagnostics.error(
        MISSING_FILE,
        f'"{key}" in the config of lifecycle step "{step.name}": {problem}',
        span_inside(place, named.at) if place is not None else step.span,
        hint="paths of the archive are relative to the root of the service",
    )


def _problem(path: str, package: Package, *, is_secret: bool) -> str:
    """What stands against using a path; "" for nothing."""
    shown = "(sensitive)" if is_secret else path
    if leaves_root(path):
        return f"{shown} leads out of the service"
    if not package.has(posixpath.normpath(path)):
        return f"there is no file or folder {shown if is_secret else package.shown(path)}"
    root = Path(package.root)
    if not package.is_archive and not (root / path).resolve().is_relative_to(root.resolve()):
        return f"{shown} is a link that leads out of the service"
    return ""


def _is_found_out(value: Value) -> bool:
    """Whether a value is known only when the service runs."""
    return any(call.function not in STATIC for call in calls(value))


def _paths(
    data: object, schema: Schema | None, types: Mapping[str, DataType], at: tuple[str | int, ...]
) -> Iterator[_Named]:
    """The paths in data of a schema. How deep data is nested is bounded where it is read, so recursion is safe here."""
    declared = types.get(schema.type) if schema is not None else None
    if schema is None or declared is None:
        return
    if isinstance(data, str):
        if ARCHIVE_PATH in declared.kinds:
            yield _Named(data, at)
    elif isinstance(data, list):
        for index, item in enumerate(data):
            yield from _paths(item, schema.entry or declared.entry, types, (*at, index))
    elif isinstance(data, Mapping):
        for key, value in data.items():
            field = declared.properties.get(str(key))
            inner = field.schema if field is not None else schema.entry or declared.entry
            yield from _paths(value, inner, types, (*at, str(key)))


def _holds_paths(schema: Schema, types: Mapping[str, DataType]) -> bool:
    """Whether values of a schema may name files."""
    seen: set[str] = set()
    waiting: list[Schema | None] = [schema]
    while waiting:
        current = waiting.pop()
        declared = types.get(current.type) if current is not None else None
        if current is None or declared is None:
            continue
        if ARCHIVE_PATH in declared.kinds:
            return True
        waiting += (current.entry, declared.entry)
        if declared.name not in seen:
            seen.add(declared.name)
            waiting += (field.schema for field in declared.properties.values())
    return False
