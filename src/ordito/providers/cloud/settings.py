"""What is known of a cloud: which driver speaks with it, as whom, and what is to be made there."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

PRIVATE, PUBLIC = "private", "public"


class MachineImage(msgspec.Struct, frozen=True):
    """An image by what is on it: its id or name in the cloud, and what of the capability ``os`` it is for; "" is for
    everything."""

    image: str
    type: str = ""
    distribution: str = ""
    version: str = ""
    architecture: str = ""


class CloudSettings(msgspec.Struct, frozen=True):
    """The section ``cloud`` of the inventory.

    ``driver`` is a name of libcloud's; ``key`` and ``secret`` may be ``Sensitive``, values of ``arguments`` as well,
    which the driver itself takes (region, host, port, ...). ``image`` is for every machine for which none of
    ``images`` is; ``size`` likewise where no size is asked for, and ``sizes`` are those that may be taken, () for all.
    ``network`` is the id or name of that in which machines are made and networks become parts, ``groups`` are security
    groups that every machine is in. Where ``doors``, each Compute has one more group, with what must reach it; where
    there are no others, that lets in from ``admits``, a range of addresses, by SSH ("" for nobody). ``connection`` are
    settings of the target (user, identity, ...), ``address`` says by which address machines are reached.
    ``public_key`` is the text of a key that becomes a key pair, ``key_pair`` the name of one that is there. Times
    are in seconds.
    """

    driver: str
    key: object = ""
    secret: object = ""
    arguments: Mapping[str, object] = {}
    image: str = ""
    images: tuple[MachineImage, ...] = ()
    size: str = ""
    sizes: tuple[str, ...] = ()
    zone: str = ""
    network: str = ""
    groups: tuple[str, ...] = ()
    doors: bool = True
    admits: str = "0.0.0.0/0"
    pool: str = ""
    key_pair: str = ""
    public_key: str = ""
    address: str = PUBLIC
    connection: Mapping[str, object] = {}
    timeout: float = 600.0
    request_timeout: float = 60.0
    requests: int = 8
    interval: float = 2.0
