"""The catalogue of a blueprint: folders in which plugins and blueprints are found by their names, as a manager has them
(section 2.2)."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import beside, is_url
from ordito.lowering.cloudify.overrides import FILE as OVERRIDES
from ordito.lowering.cloudify.overrides import NOTHING, Override, read_overrides
from ordito.source.nodes import Mapping, Scalar, Sequence, is_null
from ordito.source.package import Package, read_file
from ordito.source.tree import FileTree, Folder

FOLDER = "catalog"
PLUGINS, BLUEPRINTS, RULES = "plugins", "blueprints", "imports.yaml"
MAIN = "blueprint.yaml"
ENDINGS = (".yaml", ".yml")
PACKED = (".zip", ".wgn", ".tar", ".tar.gz", ".tgz", ".tar.bz2")
USUAL = ("plugin.yaml", "v2_plugin.yaml")
"""The files of plugins for the older versions."""
VARIANTS = {"cloudify_dsl_1_4": "plugin_1_4.yaml", "cloudify_dsl_1_5": "plugin_1_5.yaml"}
FACT = r"(?:^\s+|[{{,]\s*){}:[ \t]*[\"']?([^\"'#\s,}}]+)"
PACKAGE_NAME = re.compile(FACT.format("package_name"), re.MULTILINE)
PACKAGE_VERSION = re.compile(FACT.format("package_version"), re.MULTILINE)
IS_BLUEPRINT = re.compile(r"^[\"']?tosca_definitions_version[\"']?[ \t]*:[ \t]*[\"']?cloudify_dsl_", re.MULTILINE)
CLAUSE = re.compile(r"\s*(>=|<=|==|!=|~=|>|<|=)?\s*([\w.-]+)\s*")
MOST_BYTES = 1 << 20


class CataloguedPlugin(msgspec.Struct, frozen=True):
    """A plugin of the catalogue: the folder of its files, and these by their names."""

    name: str
    version: str
    files: dict[str, str]

    def variant(self, version: str) -> str:
        """The file for a version of the language, as the service names it."""
        names = [VARIANTS.get(version, USUAL[0]), *USUAL, *VARIANTS.values()]
        return next(self.files[name] for name in names if name in self.files)


class BlueprintCatalogue:
    """What is found by name: in the folder beside the main file, then in those that the command knows of."""

    def __init__(self, package: Package, diagnostics: Diagnostics) -> None:
        self._package = package
        self._diagnostics = diagnostics
        own = posixpath.join(posixpath.dirname(package.main), FOLDER)
        self._folders: list[tuple[FileTree, str, str]] = [(package.tree, own, "")]
        for folder in package.catalogues:
            path = Path(folder).resolve()
            begin = package.local(os.fspath(path))
            self._folders += [(Folder(path), place, begin) for place in _catalogues(Folder(path))]
        self._plugins: list[CataloguedPlugin] | None = None
        self.read: list[str] = []
        """The files of the catalogues that say how things are found, as far as they were read."""

    @property
    def places(self) -> str:
        """The first folder that is searched, as people call it."""
        return self._package.shown(posixpath.join(posixpath.dirname(self._package.main), FOLDER))

    def plugins(self, name: str) -> list[CataloguedPlugin]:
        """The plugins of a name, each version once: that which is found first."""
        found: dict[str, CataloguedPlugin] = {}
        for plugin in self._all_plugins():
            if plugin.name == name:
                found.setdefault(plugin.version, plugin)
        return [*found.values()]

    def packed(self, kind: str, name: str) -> str:
        """A packed archive of that name, which is not looked into; "" for none."""
        for tree, folder, begin in self._folders:
            place = posixpath.join(folder, kind)
            _, files = tree.entries(place) if tree.is_folder(place) else ((), ())
            packed = next((f for f in files if f.startswith(name) and f.endswith(PACKED)), "")
            if packed:
                return self._package.shown(posixpath.normpath(posixpath.join(begin, place, packed)))
        return ""

    def blueprint(self, name: str) -> str:
        """The main file of a blueprint, as the service names it; "" for none."""
        for tree, folder, begin in self._folders:
            place = posixpath.join(folder, BLUEPRINTS, name)
            if not name or name.startswith(".") or "/" in name or not tree.is_folder(place):
                continue
            _, files = tree.entries(place)
            mains = [
                f for f in files if f.endswith(ENDINGS) and IS_BLUEPRINT.search(_text(tree, posixpath.join(place, f)))
            ]
            main = MAIN if MAIN in mains else mains[0] if len(mains) == 1 else ""
            if main:
                return posixpath.normpath(posixpath.join(begin, place, main))
        return ""

    def blueprints(self) -> list[str]:
        """The names of all blueprints."""
        found: list[str] = []
        for tree, folder, _ in self._folders:
            place = posixpath.join(folder, BLUEPRINTS)
            found += tree.entries(place)[0] if tree.is_folder(place) else ()
        return sorted(set(found))

    def replaced(self, url: str) -> str:
        """What the rules of the catalogues put in the place of a URL: a file, as the service names it, or another URL;
        "" where no rule is about it."""
        for tree, folder, begin in self._folders:
            for prefix, instead in self._rules(tree, folder, begin):
                if url.startswith(prefix):
                    rest = url.removeprefix(prefix)
                    if is_url(instead):
                        return f"{instead}{rest}"
                    return posixpath.normpath(posixpath.join(begin, folder, instead, rest.lstrip("/")))
        return ""

    def overrides(self) -> dict[str, Override]:
        """What is carried out instead of functions and operations; of a name the first file counts that has it."""
        found: dict[str, Override] = {}
        root = posixpath.dirname(self._package.main)
        for tree, folder, begin in self._folders:
            file = posixpath.join(folder, OVERRIDES)
            if not tree.is_file(file):
                continue
            place = posixpath.normpath(posixpath.join(begin, file))
            self.read.append(place)
            document = self._package.load(place, self._diagnostics)
            for name, written, is_playbook in read_overrides(document.root if document else None, self._diagnostics):
                path = "" if written.text in ("", NOTHING) or is_null(written) else beside(place, written.text)
                if path and not self._package.tree.is_file(path):
                    self._diagnostics.error(
                        "missing-artifact",
                        f"there is no file {written.text} beside {OVERRIDES}",
                        written.span,
                        hint=f"paths begin in the folder of {OVERRIDES}",
                    )
                    continue
                own = posixpath.relpath(path, root or ".") if path else ""
                found.setdefault(name, Override(written, own, is_playbook))
        return found

    def _rules(self, tree: FileTree, folder: str, begin: str) -> Iterator[tuple[str, str]]:
        file = posixpath.join(folder, RULES)
        if not tree.is_file(file):
            return
        place = posixpath.normpath(posixpath.join(begin, file))
        if place not in self.read:
            self.read.append(place)
        document = self._package.load(place, self._diagnostics)
        root = document.root if document is not None else None
        if not isinstance(root, Sequence):
            if root is not None:
                self._diagnostics.error(
                    "wrong-form", f"{RULES} is a list of maps of a prefix to what replaces it", root.span
                )
            return
        for item in root.items:
            for key, value in item.entries() if isinstance(item, Mapping) else ():
                if isinstance(value, Scalar):
                    yield key.text, value.text

    def _all_plugins(self) -> list[CataloguedPlugin]:
        if self._plugins is None:
            self._plugins = []
            for tree, folder, begin in self._folders:
                place = posixpath.join(folder, PLUGINS)
                folders, _ = tree.entries(place) if tree.is_folder(place) else ((), ())
                for name in folders:
                    self._plugins += self._below(tree, posixpath.join(place, name), name, begin)
        return self._plugins

    def _below(self, tree: FileTree, folder: str, name: str, begin: str) -> Iterator[CataloguedPlugin]:
        """The plugins in the folder of a package, at any depth."""
        waiting = [folder]
        while waiting:
            current = waiting.pop(0)
            folders, files = tree.entries(current)
            mine = {f: posixpath.join(current, f) for f in files if f in (*USUAL, *VARIANTS.values())}
            if mine:
                content = _text(tree, next(iter(mine.values())))
                own, version = PACKAGE_NAME.search(content), PACKAGE_VERSION.search(content)
                places = {f: posixpath.normpath(posixpath.join(begin, path)) for f, path in mine.items()}
                yield CataloguedPlugin(own[1] if own else name, version[1] if version else "", places)
            waiting += [posixpath.join(current, f) for f in sorted(folders) if not f.startswith(".")]


def _catalogues(tree: FileTree) -> list[str]:
    """The folders of a tree that are laid out as catalogues: its root, or else those below it, as where a copy of a
    service holds several."""
    found: list[str] = []
    level = ["."]
    for _ in range(MOST_LEVELS):
        below: list[str] = []
        for folder in level:
            folders, files = tree.entries(folder) if tree.is_folder(folder) else ((), ())
            if {PLUGINS, BLUEPRINTS, RULES, OVERRIDES}.isdisjoint((*folders, *files)):
                below += [posixpath.normpath(posixpath.join(folder, f)) for f in folders if not f.startswith(".")]
            else:
                found.append(folder)
        if found or len(below) > MOST_FOLDERS:
            break
        level = below
    return found


MOST_LEVELS = 6
MOST_FOLDERS = 200


def newest(plugins: list[CataloguedPlugin], clauses: str) -> CataloguedPlugin | None:
    """The newest plugin whose version fits all clauses, such as ``>=1.2,<2``; None where none does."""
    fitting = [p for p in plugins if all(_fits(p.version, c) for c in clauses.split(",") if c.strip())]
    best: CataloguedPlugin | None = None
    for plugin in fitting:
        if best is None or _order(plugin.version, best.version) > 0:
            best = plugin
    return best


def _fits(version: str, clause: str) -> bool:
    found = CLAUSE.fullmatch(clause)
    if found is None:
        return False
    operator, wanted = found[1] or "==", found[2]
    order = _order(version, wanted)
    if operator == "~=":
        begin = wanted.rpartition(".")[0]
        return order >= 0 and (version == begin or version.startswith(f"{begin}."))
    return {">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0, "!=": order != 0}.get(
        operator, order == 0
    )


def _order(one: str, other: str) -> int:
    """Negative, zero or positive where a version is older than, as old as or newer than another one."""
    mine, theirs = ([int(n) for n in re.findall(r"\d+", version)] for version in (one, other))
    length = max(len(mine), len(theirs))
    left, right = ([*numbers, *([0] * (length - len(numbers)))] for numbers in (mine, theirs))
    return (left > right) - (left < right)


def _text(tree: FileTree, path: str) -> str:
    """The beginning of a file; "" where it cannot be read."""
    try:
        return read_file(tree, path, MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
