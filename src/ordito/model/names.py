"""The meaning of type names in each file: first the normative types, then those that the file sees without a prefix,
then prefixes and URIs (§3.1, §3.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.versions import Version
from ordito.model.unit import KINDS, Definition, Unit
from ordito.source.nodes import Scalar, same_data, texts
from ordito.syntax.dialects import DIALECTS
from ordito.syntax.entities import DefinedType
from ordito.syntax.grammar import Dialect
from ordito.syntax.shapes import Entries

RESERVED_PREFIX = "tosca"
TOSCA_DOMAIN = "http://docs.oasis-open.org/tosca"
BUNDLED = {"ordito.dev/": "profile:blocks", "ordito.": "profile:ordito", "cloudify.": "profile:cloudify"}
"""How names of types begin that are there once a bundled profile is imported."""
SEPARATORS = ("/", "#", ":")
"""The characters that may separate a namespace and a name where a type is named by its URI."""


class Names:
    """All type definitions of a service, and what a name means in a file.

    Files joined by imports without prefix form a *group*; in it a name leads to the definitions with that name, and the
    imports decide which of them a file sees. A group remembers files that could not be read: a type that may be in one
    of them is not reported as missing.
    """

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._units: list[Unit] = []
        self._groups: list[int] = []
        self._visibility = Visibility(())
        self._normative: dict[str, dict[str, Definition]] = {kind: {} for kind in KINDS}
        self._non_normative: dict[str, dict[str, Definition]] = {kind: {} for kind in KINDS}
        self._normative_units: set[Unit] = set()
        self._bearers: dict[tuple[int, str], dict[str, list[tuple[Unit, Definition]]]] = defaultdict(dict)
        self._lost: dict[tuple[int, str], set[str]] = defaultdict(set)
        self._incomplete: set[tuple[int, str]] = set()
        self._torn: list[tuple[Unit, str]] = []
        self._hinted: set[tuple[str, str]] = set()
        self.definitions: dict[str, dict[str, Definition]] = {kind: {} for kind in KINDS}
        """All type definitions of each kind, by full name."""

    def add_normative(self, units: Iterable[Unit]) -> None:
        """Make the normative types known, which every file sees first."""
        for unit in units:
            self.add(unit)
            self._normative_units.add(unit)
            _name_shortly(unit, self._normative)

    def add_non_normative(self, unit: Unit) -> None:
        """Add the types of chapter 9, which are found last, without those that the service defines itself."""
        if unit not in self._units:
            self.add(unit, self._replaced(unit))
        _name_shortly(unit, self._non_normative)

    def add(self, unit: Unit, without: Collection[str] = ()) -> None:
        """Make the types that a file defines known."""
        namespace = unit.content.namespace
        if namespace is not None and not unit.is_bundled and _is_reserved(namespace.text):
            self._diagnostics.error(
                "reserved-namespace",
                f"namespaces below {TOSCA_DOMAIN} are reserved for TOSCA itself",
                namespace.span,
                hint="choose a namespace of your own",
            )
        self._units.append(unit)
        for kind, section in KINDS.items():
            for name, content in (getattr(unit.content, section) or {}).items():
                if name not in without:
                    self._define(kind, name, content, unit)

    def _replaced(self, unit: Unit) -> set[str]:
        """The types of a file that give way to types of the same name, and those that refer to such: they would not
        fit what has taken its place."""
        written = [(k, n, c) for k, section in KINDS.items() for n, c in (getattr(unit.content, section) or {}).items()]
        replaced = {n for k, n, _ in written if n in self.definitions[k]}
        before = -1
        while before < len(replaced):
            before = len(replaced)
            replaced.update(n for _, n, c in written if not replaced.isdisjoint(texts(c.at)))
        return replaced

    def mark_incomplete(self, unit: Unit) -> None:
        """Remember that a file may see unknown types, since one of its imports could not be read."""
        self._torn += ((unit, kind) for kind in KINDS)

    def close(self) -> None:
        """After all files were added, find out what each of them sees, and which names are defined twice."""
        numbers = {id(unit): number for number, unit in enumerate(self._units)}
        for unit in self._units:
            unit.number = numbers[id(unit)]
        imports = [[other.number for other in unit.imports.values()] for unit in self._units]
        self._visibility = Visibility(imports)
        self._groups = _groups(imports)
        for unit in self._units:
            self._gather(unit, self._groups[unit.number])
        self._incomplete |= {(self._groups[unit.number], kind) for unit, kind in self._torn}
        self._report_collisions()

    def find(self, kind: str, text: str, unit: Unit) -> Definition | None:
        """The type that a name means in a file; None where there is none."""
        key = kind, text
        if key not in unit.found:
            unit.found[key] = self._find(kind, text, unit)
        return unit.found[key]

    def require(self, kind: str, name: Scalar, unit: Unit, also: Iterable[str] = ()) -> Definition | None:
        """The type that a name means in a file; where there is none, report an error with suggestions, with ``also`` as
        further names that are allowed there."""
        found = self.find(kind, name.text, unit)
        if kind in unit.dialect.renamed:
            self._note_renamed(kind, name, unit)
        if found is None:
            found = self._shared(kind, name, unit)
        if found is None and not self.is_lost(kind, name.text, unit):
            self._report_unknown(kind, name, unit, also)
        return found

    def visible(self, kind: str, unit: Unit) -> Iterator[str]:
        """The names of all types of a kind that a file can use, for suggestions."""
        group = self._groups[unit.number]
        for name, bearers in self._bearers[group, kind].items():
            if any(self._sees(unit, other) for other, _ in bearers):
                yield name
        for prefix, targets in unit.prefixes.items():
            for target in targets:
                yield from (f"{prefix}:{name}" for of_kind, name in target.types if of_kind == kind)
        for known in (self._normative[kind], self._non_normative[kind]):
            yield from (name for name, definition in known.items() if name == definition.name)

    def _find(self, kind: str, text: str, unit: Unit) -> Definition | None:
        found = self._find_normative(kind, text, unit.dialect) or self._unqualified(kind, text, unit)
        if found is not None:
            return found
        prefix, colon, local = text.partition(":")
        if colon and prefix == RESERVED_PREFIX:
            return self._find_normative(kind, local, unit.dialect) or self._non_normative[kind].get(local)
        if colon and prefix in unit.prefixes:
            targets = unit.prefixes[prefix]
            if not self._normative_units.isdisjoint(targets):
                return self._find_normative(kind, local, unit.dialect)
            return next((f for t in targets if (f := self._unqualified(kind, local, t)) is not None), None)
        found = self._by_uri(kind, text)
        return found if found is not None else self._non_normative[kind].get(text)

    def _by_uri(self, kind: str, text: str) -> Definition | None:
        for separator in SEPARATORS:
            namespace, found, local = text.rpartition(separator)
            if not found:
                continue
            dialect = DIALECTS.get(namespace)
            if dialect is not None and namespace == dialect.uri:
                return self._find_normative(kind, local, dialect)
            definition = self.definitions[kind].get(_full(namespace, local))
            if definition is not None:
                return definition
        return None

    def _find_normative(self, kind: str, name: str, dialect: Dialect) -> Definition | None:
        if kind in dialect.renamed:
            name = dialect.renamed[kind].get(name, name)
        return self._normative[kind].get(name)

    def _unqualified(self, kind: str, name: str, unit: Unit) -> Definition | None:
        """The type of that name that a file defines or sees without a prefix."""
        own = unit.types.get((kind, name))
        if own is not None:
            return own
        bearers = self._bearers[self._groups[unit.number], kind].get(name, ())
        return next((found for bearer, found in bearers if self._sees(unit, bearer)), None)

    def _sees(self, unit: Unit, other: Unit) -> bool:
        return self._visibility.sees(unit.number, other.number)

    def _shared(self, kind: str, name: Scalar, unit: Unit) -> Definition | None:
        """The type that another file without a namespace defines: such files share one scope, though each should
        import what it uses."""
        found = self.definitions[kind].get(name.text)
        if unit.namespace or found is None or found.unit.namespace or found.unit.is_bundled:
            return None
        if any(found.unit in targets for targets in unit.prefixes.values()):
            return None
        unit.found[kind, name.text] = found
        if (unit.file, found.unit.file) not in self._hinted:
            self._hinted.add((unit.file, found.unit.file))
            self._diagnostics.warning(
                "missing-import",
                f'"{name.text}" is defined in {found.unit.file}, which this file does not import',
                name.span,
                hint=f"add {found.unit.file} to the imports of this file",
                related=(Related("defined here", found.content.span),),
            )
        return found

    def _note_renamed(self, kind: str, name: Scalar, unit: Unit) -> None:
        """Say once per file what a normative type is called now."""
        now = unit.dialect.renamed[kind].get(name.text.removeprefix(f"{RESERVED_PREFIX}:"))
        if now is not None and (unit.file, now) not in self._hinted:
            self._hinted.add((unit.file, now))
            self._diagnostics.note("renamed-type", f"TOSCA 1.3 calls {name.text} {now}", name.span)

    def _report_unknown(self, kind: str, name: Scalar, unit: Unit, also: Iterable[str]) -> None:
        prefix, colon, local = name.text.partition(":")
        if colon and not local.startswith("//") and prefix not in unit.prefixes and prefix != RESERVED_PREFIX:
            self._diagnostics.unknown(
                "unknown-prefix",
                "import has a namespace_prefix",
                prefix,
                name.span,
                [*unit.prefixes, RESERVED_PREFIX],
            )
            return
        others = [k for k in KINDS if k != kind and self.find(k, name.text, unit) is not None]
        behind = (p for p, targets in unit.prefixes.items() if any(self._has(kind, name.text, t) for t in targets))
        called = next(behind, "")
        if called:
            hint = f'it is called "{called}:{name.text}" here'
            self._diagnostics.error("unknown-type", f'no {kind} type named "{name.text}"', name.span, hint=hint)
            return
        if lacking := self._lacking_profile(kind, name.text, unit):
            hint = f'such types come with Ordito: write imports: [ "{lacking}" ]'
            self._diagnostics.error("unknown-type", f'no {kind} type named "{name.text}"', name.span, hint=hint)
            return
        note = f"it is {'an' if others[0][0] in 'aeiou' else 'a'} {others[0]} type" if others else ""
        known = chain(also, self.visible(kind, unit)) if "://" not in name.text else self._uris(kind)
        self._diagnostics.unknown("unknown-type", f"{kind} type", name.text, name.span, known, note=note)

    def _lacking_profile(self, kind: str, name: str, unit: Unit) -> str:
        """The bundled profile whose types begin as this name, if the file sees none of them."""
        for begin, profile in BUNDLED.items():
            if name.startswith(begin):
                return "" if any(seen.startswith(begin) for seen in self.visible(kind, unit)) else profile
        return ""

    def _has(self, kind: str, name: str, unit: Unit) -> bool:
        return self._unqualified(kind, name, unit) is not None

    def _uris(self, kind: str) -> Iterator[str]:
        """The types of a kind that have a namespace, by their URIs."""
        for definition in self.definitions[kind].values():
            if definition.unit.namespace:
                yield f"{definition.unit.namespace.rstrip('/')}/{definition.content.name}"

    def is_lost(self, kind: str, text: str, unit: Unit) -> bool:
        """Whether a type that is not found may be written in what could not be read."""
        if text.startswith((f"{RESERVED_PREFIX}.", f"{RESERVED_PREFIX}:")):
            return False
        prefix, colon, local = text.partition(":")
        targets = unit.prefixes.get(prefix) if colon else None
        if targets is None:
            targets, local = [unit], text
        groups = {self._groups[target.number] for target in targets}
        return not targets or any((g, kind) in self._incomplete or local in self._lost[g, kind] for g in groups)

    def _define(self, kind: str, name: str, content: DefinedType, unit: Unit) -> None:
        """Make a type known, unless its full name is taken by another one."""
        full = name if unit.is_bundled else _full(unit.namespace, name)
        earlier = self.definitions[kind].get(full)
        if earlier is None:
            self.definitions[kind][full] = earlier = Definition(kind, full, content, unit)
            if not unit.is_bundled:
                self._check(kind, name, content)
        elif not same_data(earlier.content.at, content.at):
            advice = "rename one of them, or give their files namespaces and import one with a namespace_prefix"
            if unit.namespace:
                advice = f"rename one of them: both files have the namespace {unit.namespace}"
            self._report_twice(kind, name, content, earlier, advice)
        unit.types[kind, name] = earlier

    def _report_twice(self, kind: str, name: str, content: DefinedType, earlier: Definition, advice: str) -> None:
        self._diagnostics.error(
            "duplicate-name",
            f'the {kind} type "{name}" is defined twice',
            content.span,
            hint=advice,
            related=(Related("first defined here", earlier.content.span),),
        )

    def _check(self, kind: str, name: str, content: DefinedType) -> None:
        shadowed = self._normative[kind].get(name)
        if shadowed is not None:
            self._diagnostics.warning(
                "shadowed-type",
                f'"{name}" without a prefix means the normative {shadowed.name}, not this {kind} type',
                content.span,
                hint="choose another name",
            )
        if content.version is not None:
            try:
                Version.parse(content.version.text)
            except ValueError as error:
                self._diagnostics.error("bad-value", str(error), content.version.span, hint="for example 1.0.0")

    def _gather(self, unit: Unit, group: int) -> None:
        """Enter what a file defines into its group."""
        for (kind, name), definition in unit.types.items():
            self._bearers[group, kind].setdefault(name, []).append((unit, definition))
        for kind, section in KINDS.items():
            entries = getattr(unit.content, section)
            if isinstance(entries, Entries):
                self._lost[group, kind] |= entries.lost
                if entries.all_lost:
                    self._incomplete.add((group, kind))

    def _report_collisions(self) -> None:
        """Report names that mean two types in one file, since both come without a prefix (R-3.6.8-8)."""
        members: dict[int, list[int]] = defaultdict(list)
        for number, group in enumerate(self._groups):
            members[group].append(number)
        for (group, kind), named in self._bearers.items():
            for name, bearers in named.items():
                for position in range(1, len(bearers)):
                    self._report_collision(kind, name, bearers[: position + 1], members[group])

    def _report_collision(self, kind: str, name: str, bearers: list[tuple[Unit, Definition]], group: list[int]) -> None:
        """Report the last of some definitions of a name if some file sees it together with another one."""
        unit, definition = bearers[-1]
        others = [(u, d) for u, d in bearers[:-1] if d is not definition]
        if others and self._visibility.see_together(unit.number, [u.number for u, _ in others], group):
            advice = "rename one of them, or import one with a namespace_prefix"
            self._report_twice(kind, name, definition.content, others[0][1], advice)


def _is_reserved(namespace: str) -> bool:
    return namespace == TOSCA_DOMAIN or namespace.startswith(f"{TOSCA_DOMAIN}/")


def _full(namespace: str, name: str) -> str:
    """The full name of a type: its name, below its namespace where it has one."""
    return f"{namespace.rstrip('/')}:{name}" if namespace else name


def _groups(imports: list[list[int]]) -> list[int]:
    """The number of the group that each file belongs to."""
    parents = list(range(len(imports)))

    def head(file: int) -> int:
        while parents[file] != file:
            parents[file] = parents[parents[file]]
            file = parents[file]
        return file

    for file, others in enumerate(imports):
        for other in others:
            parents[head(other)] = head(file)
    return [head(file) for file in range(len(imports))]


def _name_shortly(unit: Unit, names: dict[str, dict[str, Definition]]) -> None:
    """Enter the types of a file under their full names, and under their short ones."""
    for (kind, name), definition in unit.types.items():
        names[kind][name] = definition
    for (kind, name), definition in unit.types.items():
        for short in _shorthands(name, definition):
            names[kind].setdefault(short, definition)


def _shorthands(name: str, definition: Definition) -> list[str]:
    """The short names of a normative type: those its metadata lists, and its name without ``tosca.<kind>s.``."""
    listed = (definition.content.metadata or {}).get("tosca.shorthand")
    found = [s.strip() for s in listed.text.split(",")] if listed else []
    parts = name.split(".", 2)
    return [*found, parts[-1]] if len(parts) > 2 else found


# Which files see which without a prefix: those that they import so, directly or through others (§3.2, §3.6.8).


class Visibility:
    """Answers for files by their numbers; ``imports`` gives, per file, those that it imports without a prefix.

    What a file reaches is kept as the bits of one number, and is found only when somebody asks for more than a direct
    import. Files that import each other in a circle reach the same.
    """

    def __init__(self, imports: Sequence[Sequence[int]]) -> None:
        self._imports = imports

    def sees(self, file: int, other: int) -> bool:
        """Whether a file sees another one, or is it."""
        return file == other or other in self._imports[file] or bool(self._reached[file] >> other & 1)

    def see_together(self, file: int, others: Sequence[int], group: Sequence[int]) -> bool:
        """Whether some file of a group sees a file together with one of some others."""
        wanted = sum(1 << other for other in others)
        return any(self._reached[member] >> file & 1 and self._reached[member] & wanted for member in group)

    @cached_property
    def _reached(self) -> list[int]:
        """What each file reaches, itself included; found by Tarjan's algorithm, on a stack of its own."""
        count = len(self._imports)
        reached = [0] * count
        order = [0] * count
        low = [0] * count
        circle: list[int] = []
        clock = 0
        for root in range(count):
            path = [(root, iter(self._imports[root]))] if not order[root] else []
            while path:
                file, following = path[-1]
                if not order[file]:
                    clock += 1
                    order[file] = low[file] = clock
                    circle.append(file)
                other = next(following, None)
                if other is None:
                    path.pop()
                    if path:
                        low[path[-1][0]] = min(low[path[-1][0]], low[file])
                    self._close(file, order, low, circle, reached)
                elif not order[other]:
                    path.append((other, iter(self._imports[other])))
                elif not reached[other]:
                    low[file] = min(low[file], order[other])
        return reached

    def _close(self, file: int, order: list[int], low: list[int], circle: list[int], reached: list[int]) -> None:
        """Give all files of a circle what they reach, once the first of them is done."""
        if low[file] != order[file]:
            return
        members: list[int] = []
        while not members or members[-1] != file:
            members.append(circle.pop())
        bits = 0
        for member in members:
            bits |= 1 << member
            for other in self._imports[member]:
                bits |= reached[other]
        for member in members:
            reached[member] = bits
