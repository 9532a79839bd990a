"""The engine of containers on a host: which it is, its commands, and what it says of a container."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence

import msgspec

from ordito.work.providing import Delegation, ProviderFailed
from ordito.work.targets import Hands, HostTarget, Ran

USUAL, LONG = 300.0, 3_600.0
"""Seconds after which a command is given up, and one that fetches or builds an image."""

NOBODY = ("no such container", "no such object", "no container with name or id")
"""What engines say, in small letters, of a container that is not there."""

LINES = 10
"""Last lines of its log that are told of a container that has ended."""


class State(msgspec.Struct, frozen=True, rename="pascal"):
    """The part ``State`` of what an engine says of a container."""

    status: str = ""
    running: bool = False
    paused: bool = False
    exit_code: int = 0
    error: str = ""


class Config(msgspec.Struct, frozen=True, rename="pascal"):
    """How a container was made."""

    labels: dict[str, str] | None = None
    healthcheck: Mapping[str, object] | None = None


class HostConfig(msgspec.Struct, frozen=True, rename="pascal"):
    """What a container has of its host."""

    network_mode: str = ""


class ContainerNetwork(msgspec.Struct, frozen=True):
    """A container in a network."""

    address: str = msgspec.field(name="IPAddress", default="")
    id: str = msgspec.field(name="NetworkID", default="")


class Published(msgspec.Struct, frozen=True, rename="pascal"):
    """Where a port of a container is published."""

    host_ip: str = ""
    host_port: str = ""


class Networking(msgspec.Struct, frozen=True):
    """Where a container is reached."""

    address: str = msgspec.field(name="IPAddress", default="")
    networks: dict[str, ContainerNetwork] | None = msgspec.field(name="Networks", default=None)
    ports: dict[str, list[Published] | None] | None = msgspec.field(name="Ports", default=None)


class Container(msgspec.Struct, frozen=True, rename="pascal"):
    """What an engine says of a container."""

    id: str = ""
    image: str = ""
    state: State = State()
    config: Config = Config()
    host_config: HostConfig = HostConfig()
    network_settings: Networking = Networking()

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        return self.config.labels or {}

    @property
    def checks_health(self) -> bool:
        """Whether its image, or who has made it, says how its health is found out."""
        return bool(self.config.healthcheck and self.config.healthcheck.get("Test"))

    @property
    def has_host_network(self) -> bool:
        """Whether its network is that of its host."""
        return self.host_config.network_mode == "host"


class EngineMachine(msgspec.Struct, frozen=True):
    """How much the host of an engine has, 0 where the engine does not say, and whether containers can be given a part
    of it: processors, and bytes of memory."""

    cpus: int = 0
    memory: int = 0
    limits_cpus: bool = True
    limits_memory: bool = True


class Engine:
    """The engine on one host."""

    def __init__(self, name: str, hands: Hands, target: HostTarget | None, machine: EngineMachine) -> None:
        self.name = name
        self.target = target
        self.machine = machine
        self.loading = asyncio.Lock()
        """Held while an image is loaded, which has names for a moment that may mean something else."""
        self._hands = hands

    @property
    def where(self) -> str:
        """Its host, for people."""
        return place(self.target)

    async def run(self, *words: str, given: bytes = b"", timeout: float = USUAL) -> Ran:
        """Run one of its commands. Raises ``ProviderFailed`` where it takes too long."""
        return await self.run_words([self.name, *words], f"{self.name} {words[0]}", given=given, timeout=timeout)

    async def run_words(self, words: Sequence[str], called: str, *, given: bytes = b"", timeout: float = USUAL) -> Ran:
        """Run a program on its host that is ``called`` so where it takes too long."""
        try:
            return await self._hands.run(self.target, words, given=given, timeout=timeout)
        except TimeoutError as error:
            raise ProviderFailed(f"{called} has not ended after {timeout:g} s on {self.where}") from error

    async def ask(self, *words: str, given: bytes = b"", timeout: float = USUAL) -> str:
        """What one of its commands printed. Raises ``ProviderFailed`` with what it said where it fails."""
        ran = await self.run(*words, given=given, timeout=timeout)
        if ran.status != 0:
            raise ProviderFailed(f"{self.name} {words[0]} failed on {self.where}: {said(ran)}")
        return ran.out.decode(errors="replace").strip()

    async def look(self, name: str) -> Container | None:
        """What there is of a container; None where there is none of that name."""
        ran = await self.run("container", "inspect", name)
        if ran.status != 0:
            if any(word in ran.err.decode(errors="replace").lower() for word in NOBODY):
                return None
            raise ProviderFailed(f"{self.name} inspect failed on {self.where}: {said(ran)}")
        found = msgspec.json.decode(ran.out, type=list[Container])
        return found[0] if found else None

    async def remove(self, name: str) -> None:
        """Remove a container with the volumes that have no names, whatever it does; no error where there is none."""
        at_once = ("--time", "0") if self.name == "podman" else ()
        ran = await self.run("rm", "--force", "--volumes", *at_once, name)
        if ran.status != 0 and await self.look(name) is not None:
            raise ProviderFailed(f"{self.name} rm failed on {self.where}: {said(ran)}")

    async def last_lines(self, name: str) -> str:
        """The last lines that a container has printed, as what follows on the first line of a message."""
        ran = await self.run("logs", "--tail", str(LINES), name)
        lines = (ran.out + ran.err).decode(errors="replace").strip() if ran.status == 0 else ""
        return f"\n{lines}" if lines else "; it has printed nothing"


class Engines:
    """The engines on all hosts, each asked for once; ``wanted`` is the one that the inventory names, if it does."""

    def __init__(self, hands: Hands, wanted: str = "") -> None:
        self.wanted = wanted
        self._hands = hands
        self._names = (wanted,) if wanted else ENGINES
        self._known: dict[tuple[str, str], asyncio.Task[Engine]] = {}

    async def of(self, target: HostTarget | None, made: object) -> Engine:
        """The engine that has made something on a host, whose attribute says which: that one need not be asked."""
        name = made.get("engine") if isinstance(made, Mapping) else None
        if name in ENGINES and (self._names in (ENGINES, (name,))):
            return Engine(str(name), self._hands, target, EngineMachine())
        return await self.on(target)

    async def on(self, target: HostTarget | None) -> Engine:
        """The engine on a host. Raises ``ProviderFailed`` where none answers, ``Unreachable``."""
        key = (target.protocol, target.name) if target else ("", "")
        asked = self._known.get(key)
        if asked is None or (asked.done() and (asked.cancelled() or asked.exception())):
            asked = self._known[key] = asyncio.get_running_loop().create_task(self._find(target))
        return await asyncio.shield(asked)

    async def _find(self, target: HostTarget | None) -> Engine:
        answers: list[str] = []
        for name in self._names:
            try:
                ran = await self._hands.run(target, [name, "info", "--format", "{{json .}}"], timeout=USUAL)
            except TimeoutError:
                answers.append(f"{name}: no answer within {USUAL:g} s")
                continue
            if ran.status == 0:
                return Engine(name, self._hands, target, _machine(ran.out))
            answers.append(f"{name}: {said(ran)}")
        names = " nor ".join(f"`{name} info`" for name in self._names)
        raise ProviderFailed(
            f"no engine for containers answers on {place(target)}: {'; '.join(answers)}. Install or start one, so that"
            f" {'neither ' if len(self._names) > 1 else ''}{names} {'fails' if len(self._names) > 1 else 'succeeds'}"
        )


class _PodmanHost(msgspec.Struct, frozen=True):
    cpus: int = 0
    memory: int = msgspec.field(name="memTotal", default=0)
    controllers: list[str] | None = msgspec.field(name="cgroupControllers", default=None)


class _Info(msgspec.Struct, frozen=True):
    """What either engine says of itself."""

    host: _PodmanHost | None = None
    cpus: int = msgspec.field(name="NCPU", default=0)
    memory: int = msgspec.field(name="MemTotal", default=0)
    limits_memory: bool = msgspec.field(name="MemoryLimit", default=True)
    limits_cpus: bool = msgspec.field(name="CpuCfsQuota", default=True)


def _machine(told: bytes) -> EngineMachine:
    try:
        info = msgspec.json.decode(told, type=_Info)
    except msgspec.DecodeError:
        return EngineMachine()
    if info.host is None:
        return EngineMachine(info.cpus, info.memory, info.limits_cpus, info.limits_memory)
    controllers = info.host.controllers or []
    return EngineMachine(info.host.cpus, info.host.memory, "cpu" in controllers, "memory" in controllers)


def place(target: HostTarget | None) -> str:
    """A host, for people."""
    return target.name if target else "this machine"


def said(ran: Ran) -> str:
    """Why a command has failed, in its own words."""
    lines = [line.strip() for line in ran.err.decode(errors="replace").splitlines() if line.strip()]
    text = lines[-1].removeprefix("Error: ") if lines else ""
    return text or f"exit {ran.status}, and it said nothing"


# How containers are called, and known again: by the deployment and the instance that they were made for.

ENSEMBLE, INSTANCE, JOB = "ordito.ensemble", "ordito.instance", "ordito.job"
"""The labels of a container: the id of the deployment, the instance, and the job that has made it."""

_UNFIT = re.compile(r"[^a-zA-Z0-9_.-]")
_LONGEST = 100


def name_of(asked: Delegation) -> str:
    """The name of an instance's container: the same every time, and no other instance's."""
    told = f"ordito-{asked.ensemble}-{asked.instance}" if asked.ensemble else f"ordito-{asked.instance}"
    fit = _UNFIT.sub("-", told)[:_LONGEST]
    return fit if fit == told else f"{fit}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def labels_of(asked: Delegation) -> list[str]:
    """The words that give a container its labels."""
    labels = {ENSEMBLE: asked.ensemble, INSTANCE: asked.instance, JOB: asked.job}
    return [word for name, value in labels.items() for word in ("--label", f"{name}={value}")]


def is_of(container: Container, asked: Delegation) -> bool:
    """Whether a container was made for an instance, and not by somebody else under the same name."""
    labels = container.labels
    return labels.get(ENSEMBLE) == asked.ensemble and labels.get(INSTANCE) == asked.instance


def is_made_by(container: Container, asked: Delegation) -> bool:
    """Whether the very job has made it that makes the instance now, before it was cut off."""
    return is_of(container, asked) and container.labels.get(JOB) == asked.job


# What the inventory says of containers.

ENGINES = ("podman", "docker")
"""The programs that can be the engine, in the order in which they are asked."""


class Login(msgspec.Struct, frozen=True):
    """By whom images are fetched from a registry; the password is ``Sensitive``."""

    user: str = ""
    password: object = ""


class ContainerSettings(msgspec.Struct, frozen=True):
    """The section ``containers`` of the inventory.

    ``engine`` is the program, "" for whichever answers. The rest is about Compute nodes: ``image`` is what they are
    made from, ``images`` others by what their ``os`` capability asks for (``debian``, or ``debian:12``); ``network``,
    ``volumes`` (``source:place[:ro]``), ``environment`` and ``user`` are as in `podman run`, ``options`` further
    options of it. ``command`` is what runs in the container; "" for a shell that waits. Operations keep their files
    below ``base``, "" for the place that is usual on hosts. Values of ``environment`` may be ``Sensitive``.
    ``registries`` are logins, by the host of the registry: they win over those of the service.
    """

    engine: str = ""
    image: str = ""
    images: Mapping[str, str] = {}
    network: str = ""
    volumes: tuple[str, ...] = ()
    environment: Mapping[str, object] = {}
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    user: str = ""
    base: str = ""
    registries: Mapping[str, Login] = {}

    def image_for(self, distribution: str, version: str) -> str:
        """The image for a Compute that asks for this operating system; "" where there is none."""
        named = (f"{distribution}:{version}", distribution) if distribution else ()
        by_name = {name.casefold(): image for name, image in self.images.items()}
        return next((by_name[n.casefold()] for n in named if n.casefold() in by_name), self.image)
