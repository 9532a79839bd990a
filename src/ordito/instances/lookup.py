"""Properties, attributes and artifacts of entities: what a path of names and indexes leads to (§4.4.2, §4.5.1, §4.8.1).

A name is searched for in this order: the entity's own values; its capabilities; through a requirement the matched
capability of the target, then the target itself. An attribute that a node does not have is searched for in its Endpoint
capabilities, and then in the same way up the chain of its hosts. Where nothing has set the address of an Endpoint, it
is an address of the Compute that hosts the node.

The functions here are generators: they yield an ``Ask`` for each value that they need and get its result sent back, so
that chains of values of any length are followed without recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice

from ordito.base.sensitive import Sensitive, revealed
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.instances.context import MISSING, Answer, Ask, EvaluationError, NeedsInstance, Nothing, Path, Steps, Trace
from ordito.instances.entities import Entities, Entity, LinkEntity, NodeEntity
from ordito.instances.records import end_id
from ordito.model.operation import Artifact
from ordito.model.schema import PropertyDefinition
from ordito.model.sensitivity import Mark, Marks, says_sensitive
from ordito.model.service import Capability
from ordito.syntax.expressions import Value

ENDPOINT = "tosca.capabilities.Endpoint"
INDEX = "INDEX"
OF_EVERY_INSTANCE = ("node_instance_id", "node_instance_index")
"""What functions in blueprints can ask every instance for."""


class Lookup:
    """The lookups of one evaluation: its entities, and the trace of what was read."""

    def __init__(self, entities: Entities, trace: Trace, marks: Marks) -> None:
        self.entities = entities
        self.trace = trace
        self.marks = marks

    # ---------------------------------------------------------------------------------------------- properties

    def property(self, entity: Entity, path: Path, span: Span | None) -> Steps:
        """A static value of the service template."""
        found = yield from self._property(entity, path, span)
        if found is MISSING and isinstance(entity, NodeEntity):
            # Where a language allows that, a property is that of the nearest host which has it.
            for host in islice(self.entities.chain(entity), 1, None):
                found = yield from self._property(host, path, span)
                if found is not MISSING:
                    return found
        if found is MISSING:
            raise unknown("property", path, entity, span, self._property_names(entity))
        return found

    def property_of_hosts(self, entity: NodeEntity, path: Path, span: Span | None) -> Steps:
        """A static value of the nearest host that has it."""
        names: list[str] = []
        for host in islice(self.entities.chain(entity), 1, None):
            names.append(host.template.name)
            found = yield from self._property(host, path, span)
            if found is not MISSING:
                return found
        raise no_host("property", path, entity, names, span)

    def _property(self, entity: Entity, path: Path, span: Span | None) -> Steps:
        name, rest = str(path[0]), path[1:]
        holder = entity.template if isinstance(entity, NodeEntity) else entity.relationship
        found = yield from self._value(holder.properties, holder.definitions, name, entity, path, span)
        if found is not MISSING:
            return found
        if isinstance(entity, NodeEntity) and rest:
            capability = entity.template.capabilities.get(name)
            if capability is not None:
                found = yield from self._property_of_capability(capability, rest, entity, span)
                if found is not MISSING:
                    return found
            found = yield from self._property_by_requirement(entity, name, rest, span)
        return found

    def _property_of_capability(
        self, capability: Capability, path: Path, entity: NodeEntity, span: Span | None
    ) -> Steps:
        return (
            yield from self._value(
                capability.properties, capability.definitions, str(path[0]), entity, path, span, f"{capability.name}."
            )
        )

    def _property_by_requirement(self, entity: NodeEntity, requirement: str, path: Path, span: Span | None) -> Steps:
        for relationship in entity.template.requirements:
            if relationship.requirement != requirement:
                continue
            template = self.entities.service.require(relationship.target)
            chosen = self.entities.candidates(template, entity.context, self.trace)
            target = NodeEntity(template, chosen[0] if len(chosen) == 1 else "")
            capability = template.capabilities.get(relationship.capability)
            found: Answer = MISSING
            if capability is not None:
                found = yield from self._property_of_capability(capability, path, target, span)
            if found is MISSING:
                found = yield from self._value(
                    template.properties, template.definitions, str(path[0]), target, path, span
                )
            if found is MISSING and relationship.via:
                required = NodeEntity(self.entities.service.require(relationship.via))
                found = yield from self._property(required, path, span)
            if isinstance(found, Nothing) and str(path[0]) in template.properties:
                found = Nothing(found.reason, _own_instead(template.name, path))
            if found is not MISSING:
                return found
        return MISSING

    def _property_names(self, entity: Entity) -> list[str]:
        holder = entity.template if isinstance(entity, NodeEntity) else entity.relationship
        names = [*holder.properties, *holder.definitions]
        if isinstance(entity, NodeEntity):
            names += [*entity.template.capabilities, *(r.requirement for r in entity.template.requirements)]
        return names

    # ---------------------------------------------------------------------------------------------- attributes

    def attribute(self, entity: Entity, path: Path, span: Span | None) -> Steps:
        """A value of the running system: an attribute, or a property reflected as one."""
        if isinstance(entity, NodeEntity) and entity.template.is_open:
            return (yield from self._runtime_property(entity, path, span))
        looked_in: list[str] = []
        for current in (entity,) if isinstance(entity, LinkEntity) else self.entities.chain(entity):
            found = yield from self._attribute(current, path, span)
            if found is not MISSING:
                return found
            looked_in.append(current.key[0])
        if len(looked_in) > 1:
            raise no_host("attribute", path, entity, looked_in, span)
        raise unknown("attribute", path, entity, span, self._attribute_names(entity))

    def _runtime_property(self, entity: NodeEntity, path: Path, span: Span | None) -> Steps:
        """What an operation has set, or is known of every instance, else the property of that name. There may be
        nothing, since nobody declares what operations set."""
        found = yield from self._own_attribute(entity, path, span)
        if found is not MISSING and not isinstance(found, Nothing):
            return found
        record = self.entities.snapshot.instances.get(entity.instance)
        if record is not None and len(path) == 1 and path[0] in OF_EVERY_INSTANCE:
            return record.id if path[0] == OF_EVERY_INSTANCE[0] else record.index
        return None

    def attribute_of_hosts(self, entity: NodeEntity, path: Path, span: Span | None) -> Steps:
        """A value of the nearest host that has it."""
        host = self.entities.host(entity)
        if host is None:
            raise no_host("attribute", path, entity, [], span)
        return (yield from self.attribute(host, path, span))

    def _attribute(self, entity: Entity, path: Path, span: Span | None) -> Steps:
        name, rest = str(path[0]), path[1:]
        own = self._built_in(entity, name)
        if own is not MISSING:
            return self.nested(own, rest, path, entity, span)
        own = yield from self._own_attribute(entity, path, span)
        if own is not MISSING:
            return own
        if isinstance(entity, LinkEntity):
            return MISSING
        if rest:
            capability = entity.template.capabilities.get(name)
            found: Answer = MISSING
            if capability is not None:
                found = yield from self._attribute_of_capability(capability, rest, entity, span)
            if found is MISSING:
                found = yield from self._attribute_by_requirement(entity, name, rest, span)
            if found is not MISSING:
                return found
        return (yield from self._attribute_of_endpoints(entity, path, span))

    def _own_attribute(self, entity: Entity, path: Path, span: Span | None) -> Steps:
        """What is recorded, else what the template says, else the property of that name."""
        name = str(path[0])
        for holder_id in self._holders(entity):
            recorded = self.entities.snapshot.attributes.get(holder_id)
            if recorded is not None and name in recorded:
                value = self._marked(recorded[name], self._mark_of(entity, name))
                return self.nested(value, path[1:], path, entity, span)
        holder = entity.template if isinstance(entity, NodeEntity) else entity.relationship
        if name in holder.attributes:
            return (yield from self._value(holder.attributes, holder.attribute_definitions, name, entity, path, span))
        found = yield from self._value(holder.properties, holder.definitions, name, entity, path, span)
        if found is MISSING and name in holder.attribute_definitions:
            return Nothing(f'attribute "{name}" of {entity.id} has no value yet')
        return found

    def _holders(self, entity: Entity) -> tuple[str, ...]:
        """The ids under which values of an entity are recorded, the most special first."""
        if isinstance(entity, NodeEntity):
            found: tuple[str, ...] = (entity.instance,) if entity.instance else ()
        else:
            key = entity.relationship.key
            found = (
                entity.id,
                *([end_id(key, entity.source, "source")] if entity.source else []),
                *([end_id(key, entity.target, "target")] if entity.target else []),
            )
        self.trace.reads.update(found)
        return found

    def _built_in(self, entity: Entity, name: str) -> Answer:
        """The attributes that every entity has (§5.9.1, §5.7.1)."""
        if name == "tosca_name":
            return entity.template.name if isinstance(entity, NodeEntity) else entity.relationship.key
        if name == "tosca_id":
            if isinstance(entity, NodeEntity) and not entity.instance:
                return Nothing(f"{entity} has no instance here")
            self.trace.reads.add(entity.id)
            return entity.id
        if name == "state":
            if isinstance(entity, LinkEntity):
                self.trace.reads.add(entity.id)
                link = self.entities.snapshot.links.get(entity.id)
                return link.state if link else "initial"
            record = self.entities.snapshot.instances.get(entity.instance)
            if record is None:
                return Nothing(f"{entity} has no instance here")
            self.trace.reads.add(f"{record.id}@")
            return self.trace.states.get(record.id, record.state)
        return MISSING

    def _attribute_of_capability(
        self, capability: Capability, path: Path, entity: NodeEntity, span: Span | None
    ) -> Steps:
        name = str(path[0])
        recorded: Mapping[str, object] = {}
        for holder_id in self._holders(entity):
            recorded = self.entities.snapshot.attributes.get(holder_id, {})
        key = f"{capability.name}::{name}"
        if key in recorded:
            definition = capability.attribute_definitions.get(name) or capability.definitions.get(name)
            value = self._marked(recorded[key], self._mark(entity, definition))
            return self.nested(value, path[1:], path, entity, span)
        own = name in capability.attributes
        values = capability.attributes if own else capability.properties
        declared = capability.attribute_definitions if own else capability.definitions
        found = yield from self._value(values, declared, name, entity, path, span, f"{capability.name}.")
        if found is MISSING and name in capability.attribute_definitions:
            if path == ADDRESS and ENDPOINT in capability.kinds:
                return (yield from self._address(capability, entity, span))
            found = Nothing(f'attribute "{name}" of capability "{capability.name}" of {entity.id} has no value yet')
        return found

    def _address(self, endpoint: Capability, entity: NodeEntity, span: Span | None) -> Steps:
        """The address of an Endpoint that nothing has set: that which the Compute has on the endpoint's network
        (§5.5.7)."""
        compute = next((e for e in self.entities.chain(entity) if e.template.is_compute), None)
        if compute is None:
            return Nothing(
                f'endpoint "{endpoint.name}" of {entity.id} is not hosted on a Compute whose address it could have'
            )
        network = yield from self._property_of_capability(endpoint, ("network_name",), entity, span)
        return (yield from address_of(network, lambda name: self._own_attribute(compute, (name,), span)))

    def _attribute_by_requirement(self, entity: NodeEntity, requirement: str, path: Path, span: Span | None) -> Steps:
        for relationship in entity.template.requirements:
            if relationship.requirement != requirement:
                continue
            target = self._target(entity, relationship.target, span, hosting=relationship.is_hosting)
            if isinstance(target, Nothing):
                return target
            capability = target.template.capabilities.get(relationship.capability)
            found: Answer = MISSING
            if capability is not None:
                found = yield from self._attribute_of_capability(capability, path, target, span)
            if found is MISSING:
                found = yield from self._own_attribute(target, path, span)
            if found is MISSING:
                found = self._built_in(target, str(path[0]))
                if found is not MISSING:
                    found = self.nested(found, path[1:], path, target, span)
            if found is MISSING and relationship.via:
                required = NodeEntity(self.entities.service.require(relationship.via))
                found = yield from self._attribute(required, path, span)
            if found is not MISSING:
                return found
        return MISSING

    def _target(self, entity: NodeEntity, name: str, span: Span | None, *, hosting: bool) -> NodeEntity | Nothing:
        template = self.entities.service.require(name)
        if name in self.entities.service.substituted:
            return NodeEntity(template)
        record = self.entities.snapshot.instances.get(entity.instance)
        if hosting and record is not None:
            return NodeEntity(template, record.host)
        chosen = self.entities.choose(template, entity.context, span, self.trace)
        return chosen if isinstance(chosen, Nothing) else NodeEntity(template, chosen)

    def _attribute_of_endpoints(self, entity: NodeEntity, path: Path, span: Span | None) -> Steps:
        """The one value that a node's Endpoint capabilities have for a name the node itself does not have."""
        values: list[Answer] = []
        declared = False
        for capability in entity.template.capabilities.values():
            if ENDPOINT not in capability.kinds:
                continue
            found = yield from self._attribute_of_capability(capability, path, entity, span)
            declared |= found is not MISSING
            if found is not MISSING and not isinstance(found, Nothing) and found not in values:
                values.append(found)
        if not declared:
            return MISSING
        if len(values) > 1:
            raise EvaluationError(
                f'the Endpoint capabilities of {entity} have different values for "{path[0]}"',
                span,
                "name the capability: [entity, capability, attribute]",
            )
        return values[0] if values else Nothing(f'"{path[0]}" of {entity.id} has no value yet')

    def _attribute_names(self, entity: Entity) -> list[str]:
        holder = entity.template if isinstance(entity, NodeEntity) else entity.relationship
        return [*holder.attributes, *holder.attribute_definitions, *self._property_names(entity)]

    # ------------------------------------------------------------------------------------ artifacts, nested values

    def artifact(self, entity: Entity, name: str) -> Artifact | None:
        """An artifact of a node or relationship."""
        holder = entity.template if isinstance(entity, NodeEntity) else entity.relationship
        return holder.artifacts.get(name)

    def _value(
        self,
        values: Mapping[str, Value],
        definitions: Mapping[str, PropertyDefinition],
        name: str,
        entity: Entity,
        path: Path,
        span: Span | None,
        prefix: str = "",
    ) -> Steps:
        """A value that the documents give, and what is inside it where the path goes on after the name.

        Only that part is evaluated to which the path leads, as far as it is written as a list or map.
        """
        if name not in values:
            if name in definitions:
                return Nothing(f'"{prefix}{name}" of {entity.id} is not set')
            return MISSING
        value, rest = values[name], path[1:]
        inner = f"{prefix}{name}"
        mark = self._mark(entity, definitions.get(name))
        while rest and isinstance(value, list | dict):
            part = self._written(value, rest[0], entity, span)
            if part is MISSING:
                break
            mark = self.marks.inside(mark, rest[0]) if mark is not None else None
            value, inner, rest = part, f"{inner}.{rest[0]}", rest[1:]  # type: ignore[assignment]
        answer: Answer = value
        if not isinstance(value, str | int | float):
            answer = yield Ask(value, entity.context, f"{entity.id}.{inner}", (*entity.key, id(value)))
        return self.nested(self._marked(answer, mark), rest, path, entity, span)

    def _mark(self, entity: Entity, definition: PropertyDefinition | None) -> Mark | None:
        """What is sensitive of a value of an entity that is defined so."""
        if isinstance(entity, NodeEntity) and says_sensitive(entity.template.metadata):
            return Mark(whole=True)
        return self.marks.of(definition)

    def _mark_of(self, entity: Entity, name: str) -> Mark | None:
        """What is sensitive of an attribute, or of the property of that name."""
        holder = entity.template if isinstance(entity, NodeEntity) else entity.relationship
        return self._mark(entity, holder.attribute_definitions.get(name) or holder.definitions.get(name))

    def _marked(self, answer: Answer, mark: Mark | None) -> Answer:
        return answer if mark is None or isinstance(answer, Nothing) else self.marks.wrap(answer, mark)

    def _written(
        self, value: list[Value] | dict[str, Value], place: str | int, entity: Entity, span: Span | None
    ) -> object:
        """What is written at a place of a list or map, ``MISSING`` where it has none."""
        if isinstance(value, dict):
            return value.get(str(place), MISSING)
        index = self._index(place, entity, span)
        return value[index] if index is not None and 0 <= index < len(value) else MISSING

    def nested(
        self, value: Answer, rest: Path, path: Path, entity: Entity | None, span: Span | None, kind: str = ""
    ) -> Answer:
        """The value inside a list, map or complex value to which further names and indexes lead. ``kind`` says what the
        path begins with where that does not belong to the entity: an input. A value inside a sensitive one is
        sensitive."""
        secret = False
        for count, place in enumerate(rest, len(path) - len(rest)):
            if isinstance(value, Nothing):
                return value
            if isinstance(value, Sensitive):
                value, secret = value.reveal(), True
            written = ".".join(str(p) for p in path[:count])
            what = f'{kind} "{written}"' if kind else f'"{entity.id}.{written}"' if entity else f'"{written}"'
            value = self._inside(value, place, what, entity, span, quiet=secret)
        return Sensitive(value) if secret and not isinstance(value, Nothing) else value

    def _inside(
        self, value: Answer, place: str | int, what: str, entity: Entity | None, span: Span | None, *, quiet: bool
    ) -> Answer:
        if isinstance(value, list):
            index = self._index(place, entity, span)
            if index is None:
                raise EvaluationError(f'{what} is a list, and "{place}" is not an index', span)
            if not 0 <= index < len(value):
                entries = "1 entry" if len(value) == 1 else f"{len(value)} entries"
                asked = f"index {index} was requested" + (" by INDEX" if place == INDEX else "")
                raise EvaluationError(f"{what} has {entries}, and {asked}", span, "count from 0")
            return value[index]
        if isinstance(value, Mapping):
            if place in value:
                return value[place]
            if str(place) in value:
                return value[str(place)]
            near = "" if quiet else " or ".join(f'"{n}"' for n in nearest(str(place), value))
            raise EvaluationError(f'{what} has no entry "{place}"', span, f"did you mean {near}?" if near else "")
        raise EvaluationError(f'{what} is neither a list nor a map, so it has no "{place}"', span)

    def _index(self, place: str | int, entity: Entity | None, span: Span | None) -> int | None:
        if isinstance(place, int):
            return place
        if place == INDEX:
            instance = entity.instance if isinstance(entity, NodeEntity) else entity.source if entity else ""
            record = self.entities.snapshot.instances.get(instance)
            if record is None:
                raise NeedsInstance("INDEX means the index of a node's instance, and there is none here", span)
            self.trace.reads.add(record.id)
            return record.index
        return int(place) if place.isdecimal() else None


def unknown(what: str, path: Path, entity: Entity, span: Span | None, known: list[str]) -> EvaluationError:
    """The error for an entity that has nothing of that name."""
    near = " or ".join(f'"{n}"' for n in nearest(str(path[0]), sorted(set(known))))
    written = ".".join(str(p) for p in path)
    return EvaluationError(f'{entity} has no {what} "{written}"', span, f"did you mean {near}?" if near else "")


def no_host(what: str, path: Path, entity: Entity, hosts: list[str], span: Span | None) -> EvaluationError:
    """The error for a node none of whose hosts has that name."""
    written = ".".join(str(p) for p in path)
    if not hosts:
        return EvaluationError(f"{entity} has no host", span)
    return EvaluationError(f'no {what} "{written}" in any host of {entity}: {" -> ".join(hosts)}', span)


def _own_instead(node: str, path: Path) -> str:
    """What was probably meant by asking a capability for something unset that its node has under the same name."""
    written = ", ".join(map(str, (node, *path)))
    return f'"{node}" itself has a "{path[0]}": write get_property: [{written}], or set it in the capability, too'


# Addresses of endpoints: where nothing has set one, an endpoint has the address that the Compute on which its node
# stands has on the endpoint's network (TOSCA 1.3 §5.5.7.2, §3.4.4).

ADDRESS = ("ip_address",)
PRIVATE, PUBLIC = "PRIVATE", "PUBLIC"
"""The aliases of the first private and the first public network of a platform."""

OF_ALIAS = {PRIVATE: "private_address", PUBLIC: "public_address"}


def address_of(network: Answer, attribute: Callable[[str], Steps]) -> Steps:
    """The address on a network, given by an alias, a name or an id; ``attribute`` looks up an attribute of the Compute.
    Without a network it is the private address."""
    wanted = str(PRIVATE if network is MISSING or network is None or isinstance(network, Nothing) else network)
    name = OF_ALIAS.get(wanted)
    if name is not None:
        found = yield from attribute(name)
        return Nothing(f'"{name}" of its Compute is not known') if found is MISSING or found is None else found
    networks = yield from attribute("networks")
    if isinstance(networks, Nothing):
        return networks
    address = on_network(revealed(networks), wanted)
    return address or Nothing(f'its Compute has no address on network "{wanted}"')


def on_network(networks: object, wanted: str) -> str:
    """The first address on the network with that name or id, in the ``networks`` of a Compute (NetworkInfo); "" where
    there is none."""
    for key, network in networks.items() if isinstance(networks, Mapping) else ():
        if not isinstance(network, Mapping):
            continue
        addresses = network.get("addresses")
        if wanted in {key, network.get("network_name"), network.get("network_id")} and isinstance(addresses, list):
            return next((str(a) for a in addresses), "")
    return ""
