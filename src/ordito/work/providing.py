"""What providers are asked to do and what they give: those who make or find what no script makes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, runtime_checkable

import msgspec

from ordito.instances.records import Snapshot
from ordito.work.targets import HOST, HostTarget


class ProviderVerb(StrEnum):
    """What is to be done for an instance: make it, remove it, look whether it is there and well, stop it or start it
    again, or wait until it can be reached (that is not asked of its provider, but of who reaches hosts)."""

    CREATE = "create"
    DELETE = "delete"
    LOOK = "look"
    REACH = "reach"
    START = "start"
    STOP = "stop"


class Far(msgspec.Struct, frozen=True):
    """The other end of a requirement: the instance, its types, its attributes and properties, and the properties of
    the relationship."""

    instance: str
    kinds: tuple[str, ...]
    attributes: Mapping[str, object] = {}
    properties: Mapping[str, object] = {}
    relationship: Mapping[str, object] = {}


class Material(msgspec.Struct, frozen=True):
    """An artifact of the node. ``file`` is its absolute path, a URL, or what its repository calls it (the name of an
    image); ``repository`` is the repository's address, ``credential`` its credential, a token in it ``Sensitive``."""

    name: str
    kinds: tuple[str, ...]
    file: str
    repository: str = ""
    credential: Mapping[str, object] = {}
    properties: Mapping[str, object] = {}


Span = tuple[int, int]
"""Ports from the first to the last."""


class OpenWay(msgspec.Struct, frozen=True):
    """A way that has to be open between two components (§8.2): from the node template ``source`` to ``target``, which
    stand on the Computes ``source_host`` and ``target_host`` ("" for none), with all of their instances.

    ``protocol`` is that of the network (tcp, udp, ...), ``ports`` are those at the target and ``source_ports`` those
    that the source connects from; none where that does not matter, or nobody says it. ``initiator`` says which of the
    two begins: source, target, or peer for both. ``relationship`` is the key of the ConnectsTo that asks for it, "" for
    instances of one node that are each other's peers.
    """

    source: str
    target: str
    source_host: str = ""
    target_host: str = ""
    protocol: str = "tcp"
    ports: tuple[Span, ...] = ()
    source_ports: tuple[Span, ...] = ()
    initiator: str = "source"
    secure: bool = False
    relationship: str = ""


class Endpoint(msgspec.Struct, frozen=True):
    """An endpoint on a Compute: its ``node`` (the Compute itself, or what stands on it) and its name there, whether it
    is for everybody (Endpoint.Public), the name or id of its network, the name under which it is to be known (§5.5.8),
    and whether it has an address of its own from a pool."""

    node: str
    name: str
    public: bool = False
    protocol: str = "tcp"
    ports: tuple[Span, ...] = ()
    network: str = ""
    dns_name: str = ""
    floating: bool = False


class Delegation(msgspec.Struct, frozen=True):
    """What a provider is asked to do for one instance.

    ``kinds`` are the node's type and that type's ancestors. ``properties`` are evaluated, those of capabilities among
    them as ``capability::name``, and ``secret`` are the names of those that are sensitive, or have parts that are: no
    argument of a program may hold them; ``attributes`` are as recorded. ``host`` is the
    target on which the instance is to be, None for this machine or where it is hosted on nothing; where it is asked
    whether a Compute is there, or to wait for it, that Compute's own target. ``requirements`` are the peers, by the
    requirement's name, ``connections`` those that the node or what stands on it takes part in, ``endpoints`` what
    stands there, and ``apart`` the node templates from whose instances it is to be on another machine. ``inputs`` are
    those of the ``create`` operation. ``timeout`` is how many seconds it may take to reach a Compute, None where nobody
    has said it. ``ensemble`` is the id of the deployment: together with ``instance`` it names what is made wherever it
    has to be known again. ``again`` is whether an instance that is looked at is made again where it is in error;
    ``on_it`` are the instances that still exist on one that is to be removed.
    """

    instance: str
    kinds: tuple[str, ...]
    verb: ProviderVerb
    node: str = ""
    properties: Mapping[str, object] = {}
    attributes: Mapping[str, object] = {}
    metadata: Mapping[str, str] = {}
    host: HostTarget | None = None
    requirements: Mapping[str, tuple[Far, ...]] = {}
    apart: frozenset[str] = frozenset()
    artifacts: tuple[Material, ...] = ()
    inputs: Mapping[str, object] = {}
    ensemble: str = ""
    job: str = ""
    timeout: float | None = None
    connections: tuple[OpenWay, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    secret: frozenset[str] = frozenset()
    anew: bool = False
    on_it: tuple[str, ...] = ()
    by_itself: bool = False
    """Whether it is a host that exists by itself: no provider knows anything of it."""


class Provided(msgspec.Struct, frozen=True):
    """What a provider made: attribute values of the instance (``work.targets.HOST`` among them, for a Compute that is
    not this machine), and a line for people. ``links`` are attributes of the relationships with peers of its
    requirements, ``far`` those of the peers themselves, both by the peer instance."""

    attributes: Mapping[str, object] = {}
    message: str = ""
    links: Mapping[str, Mapping[str, object]] = {}
    far: Mapping[str, Mapping[str, object]] = {}

    @property
    def outputs(self) -> dict[str, object]:
        """All values, in the form in which the end of a step has them."""
        others = {LINKS: self.links, FAR: self.far}
        return {**self.attributes, **{name: dict(values) for name, values in others.items() if values}}


LINKS, FAR = "ordito.links", "ordito.far"
"""Names of outputs of a delegated step that are no attributes of its instance, but of its relationships and of what
these lead to."""


class ProviderFinding(msgspec.Struct, frozen=True):
    """What a provider found of an instance: a status as ``check`` reports it (ok, degraded, error, absent, unknown),
    attribute values as they are, and a line for people."""

    status: str
    attributes: Mapping[str, object] = {}
    message: str = ""


class ProviderFailed(Exception):
    """A provider could not do what it was asked, through no fault of the program. The text is for people: what, why,
    and what to do next. ``made`` are attributes of what exists nevertheless, so that it is known."""

    def __init__(self, message: str, made: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.made = dict(made or {})


@runtime_checkable
class RegistersNames(Protocol):
    """A provider that makes the endpoints of its Computes known under their ``dns_name``. Where another one is asked,
    the job warns that nobody does."""

    def registers(self, name: str) -> bool:
        """Whether it makes something known under a name."""


@runtime_checkable
class TakesArtifacts(Protocol):
    """A provider that says which artifacts of its nodes it does something with. One that does not say so gets them all,
    and nothing is said of those that it leaves alone."""

    def takes(self, kinds: Sequence[str]) -> bool:
        """Whether it does something with an artifact of these types (the type and its ancestors)."""


@runtime_checkable
class Starts(Protocol):
    """A provider that can stop what it has made, so that it stays as it is, and start it again."""

    async def start(self, asked: Delegation) -> Provided:
        """Start the instance again; no error where it runs. Raises ``ProviderFailed``, ``Unreachable``."""

    async def stop(self, asked: Delegation) -> None:
        """Stop the instance; no error where it does not run. Raises ``ProviderFailed``, ``Unreachable``."""


@runtime_checkable
class Lends(Protocol):
    """A provider whose hosts outlive their instances: what operations have left there has to be removed when a host was
    given back."""

    def given_back(self, ensemble: str) -> Sequence[HostTarget]:
        """The hosts that an ensemble has given back, on which it has nothing any more, and of which nobody has said yet
        that they are ``tidied``, by this job or one before that was cut off; those that could not be reached when they
        were given back are not among them. Raises ``ProviderFailed``."""

    def tidied(self, ensemble: str, hosts: Sequence[HostTarget]) -> None:
        """Hear that nothing of the ensemble is on some of them any more. Raises ``ProviderFailed``."""


@runtime_checkable
class LeavesBehind(Protocol):
    """A provider that may have to give an instance up without going to where it was."""

    def left_behind(self, instance: str) -> str:
        """What may be left of an instance that was removed just now, where, and what to do about it, in words; "" where
        nothing is."""


class Provider(Protocol):
    """Makes and removes what no script makes, for example a Compute that is this machine.

    All of it may be called again after a crash, with the same instance and ensemble: nothing is made a second time.
    """

    name: str
    """By this name the inventory and the records speak of it."""

    protocol: str
    """By which protocol Computes that it makes are reached, "" where they are this machine."""

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether this provider makes nodes of these types (the node's type and its ancestors)."""

    async def create(self, asked: Delegation) -> Provided:
        """Make the instance, or find it where it was made already. Raises ``ProviderFailed``, ``Unreachable``."""

    async def delete(self, asked: Delegation) -> bool:
        """Remove the instance; no error where it is gone. Gives whether what ran on it is gone with it."""

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Whether the instance is there and well."""

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """How a Compute that it has made is reached now; None for this machine. Raises ``Unreachable`` where it does
        not know the host any more."""


class Recorded(msgspec.Struct, frozen=True):
    """What is recorded of an instance that exists: its node template and its attributes."""

    node: str
    attributes: Mapping[str, object]


@runtime_checkable
class Foresees(Protocol):
    """A provider that knows before anything is done what it cannot make."""

    def foresee(
        self, asked: Sequence[Delegation], going: Collection[str], has: Mapping[str, Recorded]
    ) -> Mapping[str, str]:
        """Of instances that are to be made, in this order, those that cannot be, each with the reason for people;
        ``going`` are instances that are to be removed before, ``has`` those that exist and are recorded as made by this
        provider. Nothing is changed."""


@runtime_checkable
class KeepsBooks(Protocol):
    """A provider that keeps books of its own of who has what, which may be behind what is recorded: records travel with
    git, and are put back from copies."""

    def remember(self, ensemble: str, has: Mapping[str, Recorded]) -> None:
        """Write down what is not in the books, when a command that may change something is begun, and when a job is:
        instances that exist and are recorded as made by this provider. Raises ``ProviderFailed``."""


class Providers(msgspec.Struct, frozen=True):
    """Those who make nodes, and which of them makes which.

    ``chosen`` are names of providers by node template or type: a template wins, then the nearest of its types. For all
    other nodes it is the first of ``all`` that makes such.
    """

    all: tuple[Provider, ...] = ()
    chosen: Mapping[str, str] = {}

    def named(self, name: str) -> Provider | None:
        """The provider of a name."""
        return next((p for p in self.all if p.name == name), None)

    def of(self, node: str, kinds: Sequence[str]) -> Provider | None:
        """The provider of a node template, whose type and ancestors are ``kinds``; None where nobody makes it."""
        chosen = next((self.chosen[name] for name in (node, *kinds) if name in self.chosen), None)
        if chosen is not None:
            return self.named(chosen)
        return next((p for p in self.all if p.provides(kinds)), None)

    def provides(self, node: str, kinds: Sequence[str]) -> bool:
        """Whether somebody makes a node template."""
        return self.of(node, kinds) is not None

    def for_instance(self, node: str, kinds: Sequence[str], attributes: Mapping[str, object]) -> Provider | None:
        """The provider of an instance: the one that has made it, else the one that would; None where that one is not
        there any more."""
        name = recorded_provider(attributes)
        return self.named(name) if name else self.of(node, kinds)


def recorded_with(provider: str, snapshot: Snapshot) -> dict[str, Recorded]:
    """The instances that exist and are recorded as made by a provider, by id."""
    found: dict[str, Recorded] = {}
    for name, attributes in snapshot.attributes.items():
        instance = snapshot.instances.get(name)
        if instance is not None and instance.exists and recorded_provider(attributes) == provider:
            found[name] = Recorded(instance.node, attributes)
    return found


def recorded_provider(attributes: Mapping[str, object]) -> str:
    """The name of the provider that has made an instance with these attributes, "" where none is recorded."""
    host = attributes.get(HOST)
    return str(host.get("provider", "")) if isinstance(host, Mapping) else ""
