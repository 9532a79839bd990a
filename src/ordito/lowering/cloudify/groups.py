"""Groups of a blueprint, and the policies by which they are scaled, as groups and policies of TOSCA (section 9)."""

from __future__ import annotations

from ordito.base.diagnostics import Diagnostics, Related
from ordito.lowering.cloudify.merging import Merged
from ordito.lowering.cloudify.values import Values
from ordito.lowering.making import mapping, text
from ordito.source.nodes import Scalar
from ordito.syntax.cloudify.policies import CloudifyGroup, CloudifyPolicy, GroupPolicy
from ordito.syntax.policies import Policy as LoweredPolicy
from ordito.syntax.shapes import Entries, is_lost
from ordito.syntax.topology import Group as LoweredGroup

SCALING = "cloudify.policies.scaling"
OF_GROUP = "cloudify.groups.Scaling"
BOUNDS = ("min_instances", "max_instances", "default_instances")
UNBOUNDED = frozenset({"UNBOUNDED", "-1"})


class GroupsOf:
    """Lowers groups and policies."""

    def __init__(self, merged: Merged, values: Values, diagnostics: Diagnostics) -> None:
        self._merged = merged
        self._values = values
        self._diagnostics = diagnostics

    def groups(self) -> dict[str, LoweredGroup]:
        """The groups."""
        found = Entries()
        templates = self._merged["node_templates"]
        for name, item in self._merged["groups"].items():
            if name in templates:
                self._diagnostics.error(
                    "duplicate-name",
                    f'"{name}" is a group and a node template',
                    item.span,
                    hint="rename one of them",
                )
                continue
            members = self._members(item)
            if not item.members:
                self._diagnostics.error(
                    "missing-value", f'group "{name}" has no members', item.span, hint="name a node template"
                )
            for policy in (item.policies or {}).values():
                self._check_policy(name, policy)
            if not members:
                found.lose((name,))
            else:
                found[name] = LoweredGroup(
                    at=item.at, key=item.key, type=text(OF_GROUP, item.key or item.at), members=members
                )
        return found

    def _members(self, group: CloudifyGroup, *, quiet: bool = False) -> list[Scalar]:
        """The node templates in a group, those of groups in it included, each once."""
        templates, groups = self._merged["node_templates"], self._merged["groups"]
        found: dict[str, Scalar] = {}
        open_ones: list[tuple[CloudifyGroup, Scalar | None]] = [(group, None)]
        seen = {group.name}
        while open_ones:
            current, place = open_ones.pop(0)
            for member in current.members:
                if member.text in templates:
                    found.setdefault(member.text, member if place is None else text(member.text, place))
                elif member.text in groups:
                    self._follow(group, groups[member.text], place or member, seen, open_ones)
                elif (
                    not quiet
                    and current is group
                    and not is_lost(templates, member.text)
                    and not is_lost(groups, member.text)
                ):
                    others = [*templates, *(g for g in groups if g != group.name)]
                    self._diagnostics.unknown(
                        "unknown-member", "node template or group", member.text, member.span, others
                    )
        return [*found.values()]

    def _follow(
        self,
        group: CloudifyGroup,
        inner: CloudifyGroup,
        place: Scalar,
        seen: set[str],
        open_ones: list[tuple[CloudifyGroup, Scalar | None]],
    ) -> None:
        """Go on with a group in a group; one that holds itself in turn is reported."""
        if inner is group:
            self._diagnostics.error(
                "group-cycle", f'group "{group.name}" holds itself', place.span, hint="leave one of the groups out"
            )
        elif inner.name not in seen:
            seen.add(inner.name)
            open_ones.append((inner, place))

    def _check_policy(self, group: str, policy: GroupPolicy) -> None:
        """A policy of a group is what a program for a server of metrics decides, which nobody runs here."""
        self._diagnostics.warning(
            "policy-not-evaluated",
            f'policy "{policy.name}" of group "{group}" is not evaluated: nothing here gives it metrics',
            policy.span,
        )
        types, triggers = self._merged["policy_types"], self._merged["policy_triggers"]
        kind = types.get(policy.type.text)
        if kind is None:
            if not is_lost(types, policy.type.text):
                self._diagnostics.unknown("unknown-type", "policy type", policy.type.text, policy.type.span, types)
            return
        self._check_values(policy, policy.properties, kind.properties or {}, "property")
        for trigger in (policy.triggers or {}).values():
            known = triggers.get(trigger.type.text)
            if known is not None:
                self._check_values(trigger, trigger.parameters, known.parameters or {}, "parameter")
            elif not is_lost(triggers, trigger.type.text):
                self._diagnostics.unknown(
                    "unknown-type", "policy trigger", trigger.type.text, trigger.type.span, triggers
                )

    def _check_values(self, owner: object, given: object, known: dict[str, object], what: str) -> None:
        """Report values of what there is not, and what lacks a value."""
        written = getattr(given, "keys", [])
        names = {key.text for key in written}
        for key in written:
            if key.text not in known:
                self._diagnostics.unknown("unknown-property", what, key.text, key.span, known)
        for name, schema in known.items():
            needed = getattr(schema, "required", None) is not False and getattr(schema, "default", None) is None
            if needed and name not in names:
                self._diagnostics.error(
                    "missing-value",
                    f'"{getattr(owner, "name", "")}" lacks the required {what} "{name}"',
                    getattr(owner, "span", None),
                )

    def policies(self) -> list[LoweredPolicy]:
        """The policies by which groups are scaled."""
        found: list[LoweredPolicy] = []
        scaled: list[CloudifyPolicy] = []
        for item in self._merged["policies"].values():
            if item.type.text != SCALING:
                self._diagnostics.unknown("unknown-type", "policy type", item.type.text, item.type.span, [SCALING])
                continue
            if self._has_targets(item):
                found.append(self._policy(item))
                scaled.append(item)
        self._check_apart(scaled)
        return found

    def _check_apart(self, scaled: list[CloudifyPolicy]) -> None:
        """Report node templates that belong to two groups which are scaled: their numbers would contradict each
        other."""
        groups = self._merged["groups"]
        owners: dict[str, tuple[str, CloudifyPolicy]] = {}
        told: set[frozenset[str]] = set()
        for policy in scaled:
            for target in policy.targets or ():
                for member in self._members(groups[target.text], quiet=True):
                    known, by = owners.setdefault(member.text, (target.text, policy))
                    pair = frozenset({known, target.text})
                    if known == target.text or pair in told:
                        continue
                    told.add(pair)
                    nested = any(m.text in pair for n in pair for m in groups[n].members)
                    self._diagnostics.error(
                        "not-supported-yet" if nested else "conflicting-values",
                        f'"{member.text}" belongs to two groups that are scaled, "{known}" and "{target.text}"'
                        + (", one inside the other" if nested else ""),
                        target.span,
                        hint="give the inner group's policy the whole number, and let the outer policy go"
                        if nested
                        else "take it out of one of them",
                        related=(Related("the other policy", by.span),),
                    )

    def _has_targets(self, item: CloudifyPolicy) -> bool:
        groups = self._merged["groups"]
        sound = bool(item.targets)
        if item.targets is None or (not item.targets and not is_lost(item.targets, "")):
            self._diagnostics.error(
                "missing-keyname", f'policy "{item.name}" has no targets', item.span, hint="name groups"
            )
        for target in item.targets or ():
            if target.text not in groups:
                sound = False
                if not is_lost(groups, target.text):
                    self._diagnostics.unknown("unknown-target", "group", target.text, target.span, groups)
        return sound

    def _policy(self, item: CloudifyPolicy) -> LoweredPolicy:
        properties = item.properties
        if properties is not None:
            for key in properties.keys:
                if key.text not in BOUNDS:
                    self._diagnostics.unknown("unknown-property", "property", key.text, key.span, BOUNDS)
            kept = [
                (k, self._values.lowered(v))
                for k, v in properties.entries()
                if k.text in BOUNDS and not (isinstance(v, Scalar) and v.text in UNBOUNDED)
            ]
            properties = mapping(kept, properties)
        return LoweredPolicy(at=item.at, key=item.key, type=item.type, targets=item.targets, properties=properties)
