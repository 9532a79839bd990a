"""The settings of a cloud: its driver, the credentials, and defaults for what is made there."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

PRIVATE, PUBLIC = "private", "public"


class MachineImage(msgspec.Struct, frozen=True):
    """An image by its operating system: its id or name in the cloud, and the properties of the capability ``os`` for
    which it is used; "" fits every value."""

    image: str
    type: str = ""
    distribution: str = ""
    version: str = ""
    architecture: str = ""


class CloudSettings(msgspec.Struct, frozen=True):
    """The section ``cloud`` of the inventory. Times are in seconds."""

    driver: str
    """The name of a driver of libcloud."""

    key: object = ""
    """May be ``Sensitive``."""

    secret: object = ""
    """May be ``Sensitive``."""

    arguments: Mapping[str, object] = {}
    """Arguments of the driver (region, host, port, ...); values may be ``Sensitive``."""

    image: str = ""
    """For machines that none of ``images`` fits."""

    images: tuple[MachineImage, ...] = ()
    """Images by operating system."""

    size: str = ""
    """For machines that ask for no size."""

    sizes: tuple[str, ...] = ()
    """The sizes that may be chosen, () for all."""

    zone: str = ""
    network: str = ""
    """The id or name of the network in which machines and the subnets of new networks are made."""

    groups: tuple[str, ...] = ()
    """Security groups of every machine."""

    doors: bool = True
    """Whether each Compute gets a security group of its own, which lets in what must reach it."""

    admits: str = "0.0.0.0/0"
    """The range of addresses that the group of a Compute lets in by SSH, if there are no other ``groups``; "" for none.
    """

    pool: str = ""
    """The network of floating addresses."""

    key_pair: str = ""
    """The name of an existing key pair."""

    public_key: str = ""
    """The text of a key from which a key pair is made."""

    address: str = PUBLIC
    """By which of its addresses a machine is reached."""

    connection: Mapping[str, object] = {}
    """Settings of the target (user, identity, ...)."""

    timeout: float = 600.0
    request_timeout: float = 60.0
    requests: int = 8
    interval: float = 2.0
