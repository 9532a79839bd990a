"""What the implementation of an operation names: a function of a plugin, a script, or nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from enum import StrEnum

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import is_url, leaves_root
from ordito.lowering.cloudify.overrides import Override
from ordito.source.nodes import Scalar
from ordito.source.package import Package
from ordito.syntax.cloudify.entities import Plugin
from ordito.syntax.shapes import has_lost

BASH = "cloudify.artifacts.BashScript"
PYTHON = "cloudify.artifacts.PythonScript"
"""The kinds of artifacts that are given ``ctx``: whoever runs them need know nothing else of blueprints."""

INLINE = "cloudify.artifacts.InlineScript"
FABRIC_SCRIPT = "cloudify.artifacts.FabricScript"
FABRIC_COMMANDS = "cloudify.artifacts.FabricCommands"
PLAYBOOK = "ordito.artifacts.Implementation.Ansible"
OWN_FUNCTION = "cloudify.artifacts.OwnFunction"
"""A function in the blueprint's own folder."""
DEPLOYMENT = "cloudify.artifacts.Deployment"
"""What is done with another service that stands for a node."""
FUNCTION = "cloudify.artifacts.PluginFunction"
"""A function that nothing here runs: a plan that would call it is refused."""

NO_OP = ""
"""Stands for a function that does nothing here."""

FUNCTIONS: Mapping[str, Mapping[str, str]] = {
    "fabric": {
        "fabric_plugin.tasks.run_script": FABRIC_SCRIPT,
        "fabric_plugin.tasks.run_commands": FABRIC_COMMANDS,
    },
    "ansible": {
        "cloudify_ansible.tasks.run": PLAYBOOK,
        "cloudify_ansible.tasks.set_playbook_config": NO_OP,
        "cloudify_ansible.tasks.cleanup": NO_OP,
        "cloudify_ansible.tasks.secure_log_playbook_args": NO_OP,
    },
    "diamond": {"*": NO_OP},
    "cfy_extensions": {
        "cloudify_types.component.upload_blueprint": NO_OP,
        "cloudify_types.component.create": NO_OP,
        "cloudify_types.component.execute_start": DEPLOYMENT,
        "cloudify_types.component.delete": DEPLOYMENT,
        "cloudify_types.component.refresh": DEPLOYMENT,
        "cloudify_types.shared_resource.connect_deployment": DEPLOYMENT,
        "cloudify_types.shared_resource.refresh": DEPLOYMENT,
        "cloudify_types.shared_resource.disconnect_deployment": NO_OP,
        "cloudify_types.blueprint.upload": NO_OP,
        "cloudify_types.blueprint.delete": NO_OP,
        "cloudify_types.secrets.delete": NO_OP,
    },
    "agent": {"*": NO_OP},
}
"""What functions of plugins become: kinds of artifacts, by ``cloudify-<name>-plugin``; ``*`` for all others."""

CENTRAL, AGENT = "central_deployment_agent", "host_agent"
EXECUTORS = (CENTRAL, AGENT)
"""Where functions run: beside the manager, or on the host of a node."""

SCRIPT = "script"
RUNS_SCRIPT = frozenset({"script_runner.tasks.run", "tasks.run", "script_runner.tasks.execute_workflow"})
"""The functions of the script plugin."""
SCRIPT_PATH = "script_path"
SCRIPT_SOURCE = "script_source"
OF_PROGRAM = frozenset({"agent", "default_workflows", "cfy_extensions"})
"""The plugins whose workflows are the program's own."""
SOURCES = "plugins"
"""The folder beside the main file in which the sources of plugins lie."""
PACKED = (".wgn", ".zip", ".tar", ".tar.gz", ".tgz")
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
    kind: str = FUNCTION
    """The kind of artifact that a function of a plugin becomes."""
    folder: str = ""
    """Where a function of the blueprint's own is found, from the folder of the main file."""
    replaced: Override | None = None
    """What is carried out instead, by the choice of whoever deploys the blueprint."""

    @property
    def by_path(self) -> bool:
        """Whether a function of the script plugin is called, which takes the script as an input."""
        if self.runs is not Runs.FUNCTION:
            return False
        return self.kind == FABRIC_SCRIPT or (self.plugin.endswith(SCRIPT) and self.function in RUNS_SCRIPT)


def override_of(instead: Override, plugin: str) -> Found:
    """What is carried out by an override."""
    if not instead.path:
        return NOTHING
    return Found(Runs.SCRIPT, plugin, kind=PLAYBOOK if instead.is_playbook else FUNCTION, replaced=instead)


NOTHING = Found(Runs.NOTHING)
UNKNOWN = Found(Runs.UNKNOWN)


class Implementations:
    """Finds out what implementations name. ``plugins`` are those of the blueprint, ``further`` scripts that lie
    elsewhere, ``overrides`` what is carried out instead of functions and operations."""

    def __init__(
        self,
        plugins: Mapping[str, Plugin],
        package: Package,
        diagnostics: Diagnostics,
        further: Collection[str],
        overrides: Mapping[str, Override],
    ) -> None:
        self._further = further
        self._overrides = overrides
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
            return path in self._further
        return self._package.tree.is_file(posixpath.normpath(posixpath.join(self._root, path)))

    def _find(self, written: str) -> Found:
        end = written.rfind(".")
        while end > 0:
            if written[:end] in self._plugins:
                return self._function(written[:end], written[end + 1 :])
            end = written.rfind(".", 0, end)
        if "\n" in written.strip():
            return Found(Runs.INLINE, self._script)
        if is_url(written) or self.has_file(written):
            return Found(Runs.SCRIPT, self._script)
        return UNKNOWN

    def _function(self, plugin: str, function: str) -> Found:
        """What a function of a plugin is."""
        instead = self._overrides.get(f"{plugin.rpartition('--')[2]}.{function}")
        if instead is not None:
            return override_of(instead, plugin)
        kind = self._kind(plugin, function)
        is_script = plugin.endswith(SCRIPT) and function in RUNS_SCRIPT
        folder = self._source(plugin) if kind == FUNCTION and not is_script else ""
        return Found(Runs.FUNCTION, plugin, function, OWN_FUNCTION if folder else kind, folder)

    def _source(self, plugin: str) -> str:
        """The folder of a plugin that the blueprint brings itself, "" for none."""
        source = self._plugins[plugin].source
        if source is None or is_url(source.text) or leaves_root(source.text):
            return ""
        places = (posixpath.join(SOURCES, source.text), source.text)
        tree = self._package.tree
        return next((p for p in places if tree.is_folder(posixpath.normpath(posixpath.join(self._root, p)))), "")

    def of_node(self, node: str) -> Mapping[tuple[str, str], Override]:
        """What is carried out instead of operations of a node, by interface and operation."""
        found: dict[tuple[str, str], Override] = {}
        for name, instead in self._overrides.items() if node else ():
            if name.startswith(f"{node}/"):
                interface, _, operation = name.removeprefix(f"{node}/").rpartition(".")
                found[interface, operation] = instead
        return found

    def _kind(self, plugin: str, function: str) -> str:
        """What a function becomes. The package of a plugin says which it is, else its name."""
        package = self._plugins[plugin].package_name
        name = package.text if package is not None else plugin.rpartition("--")[2]
        known = FUNCTIONS.get(name.removeprefix("cloudify-").removesuffix("-plugin"), {})
        return known.get(function, known.get("*", FUNCTION))

    @property
    def main(self) -> str:
        """The name of the main file, where an artifact is not one of its own."""
        return posixpath.basename(self._package.main)

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
        source = item.source
        if source is not None and (is_url(source.text) or source.text.endswith(PACKED)):
            diagnostics.warning(
                "not-applied",
                f'the source of plugin "{name}" is not run: it is a package, and no folder of the blueprint',
                source.span,
                hint="unpack it into the folder plugins/ beside the blueprint, and name that folder",
            )
        if item.install is not False and item.source is None and item.package_name is None:
            diagnostics.error(
                "missing-keyname",
                f'plugin "{name}" is installed, and says neither "source" nor "package_name"',
                item.span,
                hint="add one of them, or write install: false",
            )
