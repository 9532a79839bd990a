"""What the implementation of an operation names: a function of a plugin, a script, or nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from enum import StrEnum

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import is_url, leaves_root
from ordito.source.nodes import Scalar
from ordito.source.package import Package
from ordito.syntax.cloudify.entities import Plugin
from ordito.syntax.shapes import has_lost

BASH = "cloudify.artifacts.BashScript"
PYTHON = "cloudify.artifacts.PythonScript"
"""The kinds of artifacts that are given ``ctx``: whoever runs them need know nothing else of blueprints."""

CENTRAL, AGENT = "central_deployment_agent", "host_agent"
EXECUTORS = (CENTRAL, AGENT)
"""Where functions run: beside the manager, or on the host of a node."""

SCRIPT = "script"
RUNS_SCRIPT = frozenset({"script_runner.tasks.run", "tasks.run", "script_runner.tasks.execute_workflow"})
"""The functions of the script plugin."""
SCRIPT_PATH = "script_path"
SCRIPT_SOURCE = "script_source"
OF_PROGRAM = frozenset({"agent", "default_workflows", "cfy_extensions"})
"""The plugins whose work is done by the program itself."""
ENDINGS = (".sh", ".py", ".bash", ".ps1", ".rb")


class Runs(StrEnum):
    """What kind of thing an implementation is."""

    NOTHING = "nothing"
    SCRIPT = "script"
    INLINE = "inline"
    FUNCTION = "function"
    UNKNOWN = "unknown"


class Found(msgspec.Struct, frozen=True):
    """What an implementation names."""

    runs: Runs
    plugin: str = ""
    """The plugin that runs it."""
    function: str = ""
    """The function of the plugin, without the plugin's name."""

    @property
    def by_path(self) -> bool:
        """Whether a function of the script plugin is called, which takes the script as an input."""
        return self.runs is Runs.FUNCTION and self.plugin.endswith(SCRIPT) and self.function in RUNS_SCRIPT


NOTHING = Found(Runs.NOTHING)
UNKNOWN = Found(Runs.UNKNOWN)


class Implementations:
    """Finds out what implementations name. ``plugins`` are those of the blueprint."""

    def __init__(self, plugins: Mapping[str, Plugin], package: Package, diagnostics: Diagnostics) -> None:
        self._plugins = plugins
        self._package = package
        self._diagnostics = diagnostics
        self._root = posixpath.dirname(package.main)
        self._script = next((name for name in plugins if name.endswith(SCRIPT)), "")
        self._known: dict[str, Found] = {}

    def of(self, written: Scalar | None) -> Found:
        """What an implementation is; one that names nothing that there is is reported."""
        if written is None or not written.text.strip():
            return NOTHING
        found = self._known.get(written.text)
        if found is None:
            found = self._known[written.text] = self._find(written.text)
        if found is UNKNOWN:
            self._report(written)
        elif found.runs in (Runs.SCRIPT, Runs.INLINE) and not found.plugin and not has_lost(self._plugins):
            self._diagnostics.error(
                "no-script-plugin",
                "a script is run by a plugin whose name ends in script, and there is none",
                written.span,
                hint="import cloudify/types/types.yaml, which has it",
            )
            return NOTHING
        return found

    def executor(self, plugin: str) -> str:
        """Where the functions of a plugin run."""
        found = self._plugins.get(plugin)
        return found.executor.text if found is not None else ""

    def has_file(self, path: str) -> bool:
        """Whether a script is there."""
        if leaves_root(path):
            return False
        return self._package.tree.is_file(posixpath.normpath(posixpath.join(self._root, path)))

    def _find(self, written: str) -> Found:
        end = written.rfind(".")
        while end > 0:
            if written[:end] in self._plugins:
                return Found(Runs.FUNCTION, written[:end], written[end + 1 :])
            end = written.rfind(".", 0, end)
        if "\n" in written.strip():
            return Found(Runs.INLINE, self._script)
        if is_url(written) or self.has_file(written):
            return Found(Runs.SCRIPT, self._script)
        return UNKNOWN

    def _report(self, written: Scalar) -> None:
        name = written.text
        if has_lost(self._plugins) and not name.endswith(ENDINGS):
            return
        if name.endswith(ENDINGS) or "/" in name:
            self._diagnostics.error(
                "missing-artifact",
                f"there is no file {name} beside the blueprint",
                written.span,
                hint="paths of scripts begin in the folder of the main file",
            )
            return
        known = [*self._plugins]
        hint = f"plugins: {', '.join(known)}" if known else "there are no plugins: import cloudify/types/types.yaml"
        self._diagnostics.error(
            "unknown-implementation",
            f"{name} is neither a function of a plugin nor a file",
            written.span,
            hint=hint,
        )


def kind_of(path: str) -> str:
    """The kind of artifact that a script is."""
    return PYTHON if path.lower().endswith(".py") else BASH


# The plugins that a blueprint defines (section 6.5).


def check_plugins(written: Mapping[str, Plugin], diagnostics: Diagnostics) -> None:
    """Report plugins that run nowhere, or come from nowhere."""
    for name, item in written.items():
        if item.executor.text not in EXECUTORS:
            diagnostics.unknown("bad-value", "executor", item.executor.text, item.executor.span, EXECUTORS)
        if item.install is not False and item.source is None and item.package_name is None:
            diagnostics.error(
                "missing-keyname",
                f'plugin "{name}" is installed, and says neither "source" nor "package_name"',
                item.span,
                hint="add one of them, or write install: false",
            )
