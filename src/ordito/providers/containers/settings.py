"""What the inventory says of containers."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

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
