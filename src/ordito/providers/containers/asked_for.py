"""The container that a node template of an application asks for, by its properties, capabilities and requirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ordito.base.scalar_units import amount
from ordito.providers.containers.engine import name_of
from ordito.providers.containers.making import GRACE
from ordito.work.providing import Delegation, ProviderFailed, ProviderVerb

OWN = "ordito.nodes.Container.Application"
"""The node type whose properties say how the container is made; properties of other types have the meanings of their
authors."""

STORAGE = "storage"
"""The requirement of an application whose targets are volumes."""

_TIME = "scalar-unit.time"
_PATIENCE, _PAUSE = 60.0, 0.5
"""Seconds until an application must be healthy, and between two checks."""


class Health(msgspec.Struct, frozen=True):
    """The health check of an application: a command in its container that must succeed within ``within`` seconds after
    the start, tried every ``every`` seconds."""

    command: tuple[str, ...] = ()
    within: float = _PATIENCE
    every: float = _PAUSE


class Application(msgspec.Struct, frozen=True):
    """The container of an application, as its template asks for it."""

    options: tuple[str, ...] = ()
    """Words of `run` before the image."""

    command: tuple[str, ...] = ()
    """Words of `run` after the image."""

    environment: Mapping[str, object] = {}
    """Its variables; values may be ``Sensitive``."""

    health: Health = Health()
    """Its health check."""

    grace: float = GRACE
    """Seconds that it has to stop by itself."""

    has_own_type: bool = False
    """Whether its type is ``OWN``, or derived from that."""


def application_of(asked: Delegation) -> Application:
    """The application that an instance asks for. Raises ``ProviderFailed`` for values that are not possible."""
    has_own_type = OWN in asked.kinds
    own = asked.properties if has_own_type else {}
    _refuse_secrets(asked, own)
    command, entrypoint = _texts(own, "command"), _texts(own, "entrypoint")
    options: list[str] = []
    for flag, name in (("--network", "network"), ("--user", "user"), ("--restart", "restart"), ("--workdir", "folder")):
        if own.get(name):
            options += [flag, str(own[name])]
    options += [word for port in _ports(asked, own) for word in ("--publish", port)]
    options += [word for port in _exposed(asked) for word in ("--expose", port)]
    options += ["--publish-all"] if _of_runtime(asked, "publish_all") is True else []
    options += [word for volume in _volumes(asked, own) for word in ("--volume", volume)]
    options += _texts(own, "options")
    if entrypoint:
        options += ["--entrypoint", entrypoint[0]]
    environment = own.get("environment")
    variables = dict(environment) if isinstance(environment, Mapping) else {}
    return Application(
        tuple(options),
        (*entrypoint[1:], *command),
        {**variables, **asked.inputs},
        _health(own.get("health")),
        _seconds(own.get("stop_timeout"), GRACE),
        has_own_type,
    )


def _refuse_secrets(asked: Delegation, own: Mapping[str, object]) -> None:
    """Raise ``ProviderFailed`` for secrets in arguments of the engine, which other users of its host can see."""
    told = sorted(name for name in asked.secret if name in own and name != "environment" and "::" not in name)
    if told and asked.verb is ProviderVerb.CREATE:
        raise ProviderFailed(
            f'"{told[0]}" of {asked.instance} holds a secret, and would be an argument of a program, which others can'
            " read: give the secret as a variable (environment), and let the program read it there"
        )


def _of_runtime(asked: Delegation, name: str) -> object:
    """A property of the capability of the runtime, if that is a Container.Docker (§9.2.1)."""
    return next((far.properties.get(f"host::{name}") for far in asked.requirements.get("host", ())), None)


def _listed(written: object) -> Sequence[object]:
    return written if isinstance(written, Sequence) and not isinstance(written, str) else ()


def _texts(own: Mapping[str, object], name: str) -> tuple[str, ...]:
    return tuple(str(text) for text in _listed(own.get(name)))


def _health(written: object) -> Health:
    if not isinstance(written, Mapping):
        return Health()
    within, every = _seconds(written.get("within"), _PATIENCE), _seconds(written.get("every"), _PAUSE)
    return Health(_texts(written, "command"), within, every)


def _seconds(written: object, usual: float) -> float:
    return float(amount(str(written), _TIME)) if written else usual


# --------------------------------------------------------------------------------------------------------- volumes


def _volumes(asked: Delegation, own: Mapping[str, object]) -> Iterator[str]:
    yield from _texts(own, "volumes")
    yield from map(str, _listed(_of_runtime(asked, "volumes")))
    for storage in asked.requirements.get(STORAGE, ()):
        place = storage.relationship.get("location")
        if not isinstance(place, str) or not place.startswith("/"):
            raise ProviderFailed(
                f"{asked.instance} requires {storage.instance} as storage, but has no mount location: give the"
                " requirement a relationship of type ordito.relationships.Mounts with a location, for example /data"
            )
        yield f"{volume_name(asked, storage.instance)}:{place}"


def volume_name(asked: Delegation, storage: str) -> str:
    """The name of the volume of a storage node, the same for all applications that use it."""
    return name_of(msgspec.structs.replace(asked, instance=storage))


# ----------------------------------------------------------------------------------------------------------- ports


def _ports(asked: Delegation, own: Mapping[str, object]) -> Iterator[str]:
    """The published ports: those of endpoints, under the same number, and those that the template lists."""
    found: dict[str, None] = {}
    for spec in (*_listed(own.get("ports")), *_listed(_of_runtime(asked, "publish_ports"))):
        found.update(dict.fromkeys(_of_spec(asked, spec)))
    for name, port in asked.properties.items():
        capability, _, last = name.partition("::")
        if last == "port" and isinstance(port, int) and not isinstance(port, bool):
            protocol = str(asked.properties.get(f"{capability}::protocol") or "")
            found[f"{port}:{port}{_suffix(protocol)}"] = None
        elif last == "ports" and isinstance(port, Mapping):
            for spec in port.values():
                found.update(dict.fromkeys(_of_spec(asked, spec)))
    return iter(found)


def _exposed(asked: Delegation) -> Iterator[str]:
    """The ports that other containers can use; only their numbers in the container matter (§9.2.1.1)."""
    for spec in _listed(_of_runtime(asked, "expose_ports")):
        inside = _span(spec.get("source"), spec.get("source_range")) if isinstance(spec, Mapping) else None
        if isinstance(spec, Mapping) and inside is not None:
            yield f"{_written(inside)}{_suffix(str(spec.get('protocol') or ''))}"


def _of_spec(asked: Delegation, spec: object) -> list[str]:
    """The ports of a PortSpec (§5.3.11): ``source`` in the container, ``target`` on its host; without ``target``, any
    free port."""
    if not isinstance(spec, Mapping):
        return []
    inside, outside = (_span(spec.get(name), spec.get(f"{name}_range")) for name in ("source", "target"))
    inside = inside or outside
    if inside is None:
        raise ProviderFailed(f"a port of {asked.instance} has neither source (in the container) nor target (outside)")
    if outside is not None and outside[1] - outside[0] != inside[1] - inside[0]:
        raise ProviderFailed(f"of the ports {_written(inside)} of {asked.instance} not each has one on the host")
    suffix = _suffix(str(spec.get("protocol") or ""))
    if outside is None:
        return [f"{port}{suffix}" for port in range(inside[0], inside[1] + 1)]
    return [f"{_written(outside)}:{_written(inside)}{suffix}"]


def _span(one: object, span: object) -> tuple[int, int] | None:
    if isinstance(one, int):
        return one, one
    if isinstance(span, Sequence) and not isinstance(span, str) and len(span) == 2:
        return int(span[0]), int(span[1])
    return None


def _written(span: tuple[int, int]) -> str:
    first, last = span
    return str(first) if first == last else f"{first}-{last}"


def _suffix(protocol: str) -> str:
    return "/udp" if protocol.lower() == "udp" else ""
