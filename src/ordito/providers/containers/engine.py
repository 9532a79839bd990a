"""The container engine of a host: finding it, its commands, and what it reports about containers."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence

import msgspec

from ordito.work.providing import Delegation, ProviderFailed
from ordito.work.targets import Hands, HostTarget, Ran

USUAL, LONG = 300.0, 3_600.0
"""The timeout of a command, and of one that pulls or builds an image, in seconds."""

NOBODY = ("no such container", "no such object", "no container with name or id")
"""What engines say, in lower case, about a container that does not exist."""

LINES = 10
"""How many last lines of the log of an ended container are shown."""


class State(msgspec.Struct, frozen=True, rename="pascal"):
    """The part ``State`` of what an engine reports about a container."""

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
    """What a container uses of its host."""

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
    """The networks and published ports of a container."""

    address: str = msgspec.field(name="IPAddress", default="")
    networks: dict[str, ContainerNetwork] | None = msgspec.field(name="Networks", default=None)
    ports: dict[str, list[Published] | None] | None = msgspec.field(name="Ports", default=None)


class Container(msgspec.Struct, frozen=True, rename="pascal"):
    """What an engine reports about a container."""

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
        """Whether it has a health check, from its image or from the command that made it."""
        return bool(self.config.healthcheck and self.config.healthcheck.get("Test"))

    @property
    def has_host_network(self) -> bool:
        """Whether its network is that of its host."""
        return self.host_config.network_mode == "host"


class EngineMachine(msgspec.Struct, frozen=True):
    """The processors and bytes of memory of the host of an engine, 0 if the engine does not say, and whether containers
    can be limited to a part of them."""

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
        """Held while an image is loaded, which for a moment has names that may belong to another image."""
        self._hands = hands

    @property
    def where(self) -> str:
        """Its host, for people."""
        return place(self.target)

    async def run(self, *words: str, given: bytes = b"", timeout: float = USUAL) -> Ran:
        """Run one of its commands. Raises ``ProviderFailed`` if it takes too long."""
        return await self.run_words([self.name, *words], f"{self.name} {words[0]}", given=given, timeout=timeout)

    async def run_words(self, words: Sequence[str], called: str, *, given: bytes = b"", timeout: float = USUAL) -> Ran:
        """Run a program on its host, which error messages call ``called``. Raises ``ProviderFailed`` if it takes too
        long."""
        try:
            return await self._hands.run(self.target, words, given=given, timeout=timeout)
        except TimeoutError as error:
            raise ProviderFailed(f"{called} has not ended after {timeout:g} s on {self.where}") from error

    async def ask(self, *words: str, given: bytes = b"", timeout: float = USUAL) -> str:
        """The output of one of its commands. Raises ``ProviderFailed``, with the message of the command, if it
        fails."""
        ran = await self.run(*words, given=given, timeout=timeout)
        if ran.status != 0:
            raise ProviderFailed(f"{self.name} {words[0]} failed on {self.where}: {said(ran)}")
        return ran.out.decode(errors="replace").strip()

    async def look(self, name: str) -> Container | None:
        """The container with a name; None if there is none."""
        ran = await self.run("container", "inspect", name)
        if ran.status != 0:
            if any(word in ran.err.decode(errors="replace").lower() for word in NOBODY):
                return None
            raise ProviderFailed(f"{self.name} inspect failed on {self.where}: {said(ran)}")
        found = msgspec.json.decode(ran.out, type=list[Container])
        return found[0] if found else None

    async def remove(self, name: str) -> None:
        """Remove a container with its anonymous volumes, even if it runs; no error if there is none."""
        at_once = ("--time", "0") if self.name == "podman" else ()
        ran = await self.run("rm", "--force", "--volumes", *at_once, name)
        if ran.status != 0 and await self.look(name) is not None:
            raise ProviderFailed(f"{self.name} rm failed on {self.where}: {said(ran)}")

    async def last_lines(self, name: str) -> str:
        """The last lines that a container has printed, to be appended to a message."""
        ran = await self.run("logs", "--tail", str(LINES), name)
        lines = (ran.out + ran.err).decode(errors="replace").strip() if ran.status == 0 else ""
        return f"\n{lines}" if lines else "; it has printed nothing"


class Engines:
    """The engines of all hosts, each looked up once; ``wanted`` is the one that the inventory names, if any."""

    def __init__(self, hands: Hands, wanted: str = "") -> None:
        self.wanted = wanted
        self._hands = hands
        self._names = (wanted,) if wanted else ENGINES
        self._known: dict[tuple[str, str], asyncio.Task[Engine]] = {}

    async def of(self, target: HostTarget | None, made: object) -> Engine:
        """The engine that has made something on a host, by its attribute, without asking the host."""
        name = made.get("engine") if isinstance(made, Mapping) else None
        if name in ENGINES and (self._names in (ENGINES, (name,))):
            return Engine(str(name), self._hands, target, EngineMachine())
        return await self.on(target)

    async def on(self, target: HostTarget | None) -> Engine:
        """The engine on a host. Raises ``ProviderFailed`` if none answers, and ``Unreachable``."""
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
    """What the engines report about themselves."""

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
    """Why a command has failed, by its own message."""
    lines = [line.strip() for line in ran.err.decode(errors="replace").splitlines() if line.strip()]
    text = lines[-1].removeprefix("Error: ") if lines else ""
    return text or f"exit {ran.status}, and it said nothing"


# How containers are called, and known again: by the deployment and the instance that they were made for.

ENSEMBLE, INSTANCE, JOB = "ordito.ensemble", "ordito.instance", "ordito.job"
"""The labels of a container: the id of the deployment, the instance, and the job that has made it."""

_UNFIT = re.compile(r"[^a-zA-Z0-9_.-]")
_LONGEST = 100


def name_of(asked: Delegation) -> str:
    """The name of an instance's container: always the same, and unique."""
    told = f"ordito-{asked.ensemble}-{asked.instance}" if asked.ensemble else f"ordito-{asked.instance}"
    fit = _UNFIT.sub("-", told)[:_LONGEST]
    return fit if fit == told else f"{fit}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def labels_of(asked: Delegation) -> list[str]:
    """The options that give a container its labels."""
    labels = {ENSEMBLE: asked.ensemble, INSTANCE: asked.instance, JOB: asked.job}
    return [word for name, value in labels.items() for word in ("--label", f"{name}={value}")]


def is_of(container: Container, asked: Delegation) -> bool:
    """Whether a container was made for this instance; another one may have the same name."""
    labels = container.labels
    return labels.get(ENSEMBLE) == asked.ensemble and labels.get(INSTANCE) == asked.instance


def is_made_by(container: Container, asked: Delegation) -> bool:
    """Whether this same job has made the container, before it was interrupted."""
    return is_of(container, asked) and container.labels.get(JOB) == asked.job


# What the inventory says of containers.

ENGINES = ("podman", "docker")
"""The programs that can be the engine, in the order in which they are tried."""


class RegistryLogin(msgspec.Struct, frozen=True):
    """The login for a registry of images; the password is ``Sensitive``."""

    user: str = ""
    password: object = ""


class ContainerSettings(msgspec.Struct, frozen=True):
    """The section ``containers`` of the inventory. Except for ``engine`` and ``registries`` it is about Compute
    nodes."""

    engine: str = ""
    """The program of the engine, "" for the first one that answers."""

    image: str = ""
    """The image of Computes that none of ``images`` fits."""

    images: Mapping[str, str] = {}
    """Images by the operating system of the ``os`` capability: ``debian``, or ``debian:12``."""

    network: str = ""
    """As in `podman run`."""

    volumes: tuple[str, ...] = ()
    """As in `podman run`: ``source:place[:ro]``."""

    environment: Mapping[str, object] = {}
    """Variables; values may be ``Sensitive``."""

    options: tuple[str, ...] = ()
    """Further options of `podman run`."""

    command: tuple[str, ...] = ()
    """What runs in the container, () for a shell that waits."""

    user: str = ""
    """As in `podman run`."""

    base: str = ""
    """The folder for the files of operations, "" for the usual one."""

    registries: Mapping[str, RegistryLogin] = {}
    """Logins by the host of the registry; they override those of the service."""

    def image_for(self, distribution: str, version: str) -> str:
        """The image for a Compute that asks for this operating system; "" for none."""
        named = (f"{distribution}:{version}", distribution) if distribution else ()
        by_name = {name.casefold(): image for name, image in self.images.items()}
        return next((by_name[n.casefold()] for n in named if n.casefold() in by_name), self.image)
