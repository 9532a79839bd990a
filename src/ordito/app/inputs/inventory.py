"""Reading an inventory: its sections, and which provider makes which nodes.

defaults: { user: deploy, identity: ~/.ssh/deploy }
hosts:
  web-1: { address: 192.0.2.11 }
provide:
  tosca.nodes.network.Network: acme

`defaults` and `provide` are read here; every other section belongs to a provider, which reads it itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.environments import Environment
from ordito.app.inputs.evaluate import TemplateNames, UserPartEvaluation
from ordito.app.inputs.gathered import hide_values
from ordito.app.inputs.sources import TEMPLATE_MARKS, ReadableFiles, Sources, kind_of, secrets_of
from ordito.app.inputs.variables import evaluation_of
from ordito.app.place import Place, relative_to
from ordito.app.surroundings import seen_variables
from ordito.base.diagnostics import Diagnostics, InvalidDocument, Severity
from ordito.base.span import Span
from ordito.ensemble.layout import HOSTS_FILE
from ordito.providers.connection import DEFAULTS, has_credentials, hide_credentials, values_of
from ordito.providers.registry import (
    CONTAINER,
    LOCALHOST,
    NoFactory,
    factory_of,
    make_everywhere,
    make_localhost,
    provider_names,
    section_names,
    section_of,
)
from ordito.providers.shapes import InventorySection, NoValue
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, is_null
from ordito.source.package import load_file, load_text
from ordito.source.reach import is_given
from ordito.work.providing import Provider, Providers
from ordito.work.targets import Hands, Unreachable

# Where the inventory lies that a command works with.


class InventoryFile(msgspec.Struct, frozen=True):
    """The file of an inventory."""

    path: Path | None = None
    """Its absolute path, None for no inventory."""

    shown: str = ""
    """Its name in messages."""

    seen: str = ""
    """Its path relative to the ensemble."""

    given: bool = False
    """Whether a command has named it, so that it is remembered."""


NO_FILE = InventoryFile()


def find_inventory(
    place: Place, environment: Environment, wanted: str | None, remembered: str, diagnostics: Diagnostics
) -> InventoryFile:
    """The inventory that a command names (``wanted``; None if it names none, "" for that of the environment), else the
    one that an earlier command named, else that of the environment, else the one in the ensemble's directory.

    Raises ``Refused`` if a named one does not exist.
    """
    if wanted:
        path = Path(os.path.abspath(wanted))  # noqa: PTH100  (links stay as they are)
        if not is_given(path) or not path.is_file():
            raise Refused("no-inventory", f"there is no inventory {wanted}", "give --hosts the path of an inventory")
        return InventoryFile(path, wanted, relative_to(place.layout, wanted), given=True)
    if wanted is None and remembered:
        found = inventory_at(place, remembered, given=True)
        if found.path is None:
            raise Refused(
                "no-inventory",
                f"the inventory {found.shown}, which an earlier command has named, no longer exists",
                'put it back, name another with --hosts FILE, or use that of the environment with --hosts ""',
            )
        return found
    if environment.section.hosts is not None:
        return _of_environment(place, environment, environment.section.hosts, diagnostics)
    found = inventory_at(place, HOSTS_FILE)
    return found if found.path is not None else NO_FILE


def inventory_at(place: Place, seen: str, *, given: bool = False) -> InventoryFile:
    """The inventory at a path relative to the ensemble; without ``path`` if there is no such file."""
    path = Path(os.path.normpath(place.layout.root / Path(seen).expanduser()))
    shown = str(path) if Path(seen).is_absolute() or seen.startswith("~") else place.path(seen)
    return InventoryFile(path if is_given(path) and path.is_file() else None, shown, seen, given)


def _of_environment(place: Place, environment: Environment, node: Node, diagnostics: Diagnostics) -> InventoryFile:
    value = evaluation_of(place, diagnostics, environment).others({"": node}).values.get("")
    if value is None or is_null(value):
        return NO_FILE
    if not isinstance(value, Scalar):
        diagnostics.error("bad-value", f'"hosts" is the path of an inventory, not {value.kind}', node.span)
        return NO_FILE
    found = inventory_at(place, value.text)
    if found.path is None:
        diagnostics.error(
            "missing-file",
            f"there is no inventory {found.shown}",
            node.span,
            hint="write it, or name another; the path is relative to the ensemble's directory",
        )
        return NO_FILE
    return found


def inventory_again(place: Place, seen: str) -> InventoryFile:
    """The inventory with which a job has begun, "" for none. Raises ``Refused`` if it no longer exists."""
    found = inventory_at(place, seen) if seen else NO_FILE
    if seen and found.path is None:
        raise Refused("no-inventory", f"the inventory {found.shown} no longer exists", "put it back")
    return found


DEFAULTS_KEY, PROVIDE = "defaults", "provide"


class HostInventory(msgspec.Struct, frozen=True):
    """An inventory."""

    file: InventoryFile = NO_FILE
    sections: Mapping[str, InventorySection] = {}
    """The sections of providers, by name of the provider."""

    chosen: Mapping[str, str] = {}
    """The provider that is chosen for a node template or type, by its name."""

    chosen_at: Mapping[str, Span] = {}
    """The places of these choices."""

    defaults: InventorySection | None = None
    diagnostics: Diagnostics = msgspec.field(default_factory=Diagnostics)
    has_credentials: bool = False
    """Whether it contains a credential itself, and not only a reference to one."""

    def providers(self, hands: Hands) -> Providers:
        """The providers, with this machine as the last. Raises ``InvalidDocument`` with all errors of the inventory."""
        # Who offers providers is looked up only where somebody wants one.
        wanted = [name for name in provider_names() if name in self.sections] if self.sections else []
        made = [p for name in wanted if (p := self._make(name, hands)) is not None]
        made += make_everywhere(self.sections.get(CONTAINER), hands)
        if self.diagnostics.has_errors:
            raise InvalidDocument(self.diagnostics.sorted())
        return Providers((*made, make_localhost()), self.chosen)

    def settings(self) -> Mapping[str, object]:
        """The present settings for hosts that are not in the inventory. Raises ``Unreachable``."""
        if self.defaults is None:
            return {}
        try:
            return values_of(self.defaults, self.defaults.defaults, f'"{DEFAULTS_KEY}"')
        except NoValue as problem:
            raise Unreachable(str(problem)) from problem

    def _make(self, name: str, hands: Hands) -> Provider | None:
        section = self.sections[name]
        try:
            return factory_of(name)(section, hands)
        except NoFactory as problem:
            place = section.node.span if section.node is not None else None
            hint = "install what it needs, or remove it from the inventory"
            self.diagnostics.error("bad-value", str(problem), place, hint=hint)
            return None


NO_INVENTORY = HostInventory()

OF_PLUGINS = "the section of a plug-in is known when the plug-in is installed beside Ordito"


def read_inventory(place: Place, file: InventoryFile, environment: str, text: str | None = None) -> HostInventory:
    """Read an inventory; its errors are reported when its providers are made, together with theirs. ``environment`` is
    the name of the environment, for templates. A ``text`` stands for what is in the file."""
    if file.path is None:
        return HostInventory()
    diagnostics = Diagnostics()
    inventory = HostInventory(file, diagnostics=diagnostics)
    if text is not None:
        document = load_text(file.shown, text, diagnostics)
    else:
        document = load_file(file.shown if Path(file.shown).is_file() else str(file.path), diagnostics)
    hide_values(diagnostics)
    root = document.root if document is not None else None
    if root is None or is_null(root):
        return inventory
    if not isinstance(root, MappingNode):
        diagnostics.error("bad-value", f"an inventory is a map, not {root.kind}", root.span)
        return inventory
    known = (DEFAULTS_KEY, *section_names(), PROVIDE)
    for key in root.keys:
        if key.text not in known:
            diagnostics.unknown("unknown-keyname", "section", key.text, key.span, known, note=OF_PLUGINS)
    return _with_sections(inventory, root, Elsewhere(place, file, environment))


class Elsewhere:
    """Looks up values of an inventory that refer to other places."""

    def __init__(self, place: Place, file: InventoryFile, environment: str) -> None:
        self._place = place
        self._folder = (file.path or Path()).parent
        self._shown = os.path.dirname(file.shown) or "."  # noqa: PTH120  (as people know it)
        self._environment = environment

    @property
    def ensemble(self) -> str:
        """The absolute path of the ensemble's directory."""
        return str(self._place.layout.root)

    def is_here(self, node: Node) -> bool:
        """Whether a node contains its value, and does not refer to another place."""
        if isinstance(node, Scalar):
            return not any(mark in node.text for mark in TEMPLATE_MARKS)
        return not kind_of(node)

    def fetch(self, node: Node) -> tuple[Node, bool]:
        """The value that a node refers to, and whether it is secret. Raises ``NoValue``."""
        diagnostics = Diagnostics()
        layout = self._place.layout
        reach = ReadableFiles(self._folder, self._shown)
        seen = seen_variables()
        sources = Sources(reach, seen, secrets_of(layout), diagnostics)
        names = TemplateNames(seen, self._environment, {"directory": str(layout.root), "name": layout.root.name})
        found = UserPartEvaluation(sources, names, diagnostics).others({"": node})
        for problem in diagnostics.sorted():
            if problem.severity is Severity.ERROR:
                raise NoValue(f"{problem.span}: {problem.message}" + (f"; {problem.hint}" if problem.hint else ""))
        return found.values[""], bool(found.secret)


def _with_sections(inventory: HostInventory, root: MappingNode, elsewhere: Elsewhere) -> HostInventory:
    diagnostics, path = inventory.diagnostics, inventory.file.path or Path()
    defaults = root.values.get(DEFAULTS_KEY)

    def section(name: str) -> InventorySection:
        node = root.values.get(name)
        return InventorySection(
            name=name,
            node=None if node is None or is_null(node) else node,
            diagnostics=diagnostics,
            folder=path.parent,
            file=inventory.file.shown,
            later=lambda node: not elsewhere.is_here(node),
            fetch=elsewhere.fetch,
            defaults=defaults.values if isinstance(defaults, MappingNode) else {},
            ensemble=elsewhere.ensemble,
        )

    hide_credentials(root)
    _ = section(DEFAULTS_KEY).check(defaults, DEFAULTS, f'"{DEFAULTS_KEY}"')
    chosen = _chosen(root.values.get(PROVIDE), diagnostics)
    names = [n for n in provider_names() if n != LOCALHOST]
    said = [n for n in names if section(section_of(n)).node is not None or n in chosen.values()]
    sections = {n: section(section_of(n)) for n in said}
    return msgspec.structs.replace(
        inventory,
        sections=sections,
        chosen=chosen,
        chosen_at=_places(root.values.get(PROVIDE)),
        defaults=section(DEFAULTS_KEY),
        has_credentials=has_credentials(root, elsewhere.is_here),
    )


def _places(node: Node | None) -> dict[str, Span]:
    """The places of the names for which providers are chosen."""
    return {key.text: key.span for key in node.keys} if isinstance(node, MappingNode) else {}


def _chosen(node: Node | None, diagnostics: Diagnostics) -> dict[str, str]:
    """The providers that the inventory chooses, by node template or type."""
    if node is None or is_null(node):
        return {}
    if not isinstance(node, MappingNode):
        diagnostics.error("bad-value", f'"{PROVIDE}" is a map of node templates and types, not {node.kind}', node.span)
        return {}
    names = provider_names()
    for value in node.values.values():
        if not isinstance(value, Scalar) or value.text not in names:
            text = value.text if isinstance(value, Scalar) else value.kind
            diagnostics.unknown("bad-value", "provider", text, value.span, names)
    return {name: value.text for name, value in node.values.items() if isinstance(value, Scalar)}
