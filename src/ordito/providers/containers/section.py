"""The section ``containers`` of the inventory, and the providers that it is for.

containers:
  image: docker.io/library/debian:12
  network: host
  volumes: [ /srv/shared:/srv/shared:ro ]
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.providers.containers.applications import ApplicationProvider, RuntimeProvider
from ordito.providers.containers.computes import ContainerProvider
from ordito.providers.containers.engine import Engines
from ordito.providers.containers.settings import ENGINES, ContainerSettings, Login
from ordito.providers.containers.volumes import VolumeProvider
from ordito.providers.section import NoValue, Section
from ordito.providers.shapes import LINES, TEXT, Entries, ListOf, MapOf, OneOf
from ordito.work.providing import Provider, ProviderFailed
from ordito.work.targets import Hands

ENGINE = OneOf(*ENGINES)
CONTAINERS = Entries(
    engine=ENGINE,
    image=TEXT,
    images=MapOf(TEXT),
    network=TEXT,
    volumes=ListOf(TEXT),
    environment=MapOf(LINES),
    options=ListOf(TEXT),
    command=ListOf(TEXT),
    user=TEXT,
    base=TEXT,
    registries=MapOf(Entries(user=TEXT, password=LINES)),
)
WHAT = '"containers"'


def make_computes(section: Section, hands: Hands) -> ContainerProvider:
    """The provider of Computes that are containers; what is wrong with its section is reported."""
    checked = section.check(section.node, CONTAINERS, WHAT)
    known = checked if isinstance(checked, Mapping) else {}
    has_image = bool({"image", "images"} & {*section.entries})
    return ContainerProvider(
        Engines(hands, str(known.get("engine", ""))), lambda: _settings(section), has_image=has_image
    )


def make_everywhere(section: Section | None, hands: Hands) -> tuple[Provider, ...]:
    """The providers of runtimes, applications and volumes, which need no section; it may say which engine."""
    engine = section.entries.get("engine") if section is not None else None
    name = section.check(engine, ENGINE, f'"engine" of {WHAT}') if section is not None and engine is not None else ""

    def logins() -> Mapping[str, Login]:
        return _settings(section).registries if section is not None else {}

    engines = Engines(hands, str(name or ""))
    return ApplicationProvider(engines, logins), RuntimeProvider(engines), VolumeProvider(engines)


def _settings(section: Section) -> ContainerSettings:
    """What the section says now. Raises ``ProviderFailed``."""
    try:
        found = section.value(section.node, CONTAINERS, WHAT) if section.node is not None else {}
    except NoValue as problem:
        raise ProviderFailed(str(problem)) from problem
    return msgspec.convert(found, ContainerSettings) if isinstance(found, dict) else ContainerSettings()
