"""EC2, and clouds with the same API: what belongs to a deployment has tags, which are part of the requests that make
it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ordito.providers.cloud.dialect import ENSEMBLE, INSTANCE, NODE, CloudMachine, Unsupported, WantedMachine, Who
from ordito.providers.cloud.ec2_networks import Ec2Networks, addresses_of, is_on, own_of, tags_of, with_params

DEVICES = tuple(f"/dev/sd{letter}" for letter in "fghijklmnop")
ARM = frozenset({"arm64", "aarch64", "arm"})


class Ec2(Ec2Networks):
    """EC2, by its own API where libcloud has less."""

    arguments: Mapping[str, object] = {"signature_version": "4"}
    disk_is_apart = True
    has_groups = True

    def opened(self, driver: Any) -> Any:
        """A driver that also understands answers whose namespace lacks the last slash, which some servers give."""
        from libcloud.compute.drivers.ec2 import NAMESPACE, EC2Response

        class Response(EC2Response):
            def parse_body(self) -> Any:
                text = self.body if isinstance(self.body, str) else (self.body or b"").decode()
                self.body = text.replace(f'{NAMESPACE.rstrip("/")}"', f'{NAMESPACE}"')
                return super().parse_body()  # type: ignore[no-untyped-call]  # it is so there

            def parse_error(self) -> Any:
                said = super().parse_error()  # type: ignore[no-untyped-call]
                return said or " ".join(re.sub(r"<[^>]*>", " ", str(self.body)).split())

        if driver.connection.responseCls is EC2Response:
            driver.connection.responseCls = Response
        return driver

    # ------------------------------------------------------------------------------------------------- machines

    def nodes(self, driver: Any, ensemble: str) -> list[Any]:
        """The machines with the tag of the deployment."""
        return list(driver.list_nodes(ex_filters={f"tag:{ENSEMBLE}": ensemble}))

    def node_with(self, driver: Any, id: str) -> Any | None:
        """The machine with an id, asked for alone."""
        return next(iter(driver.list_nodes(ex_node_ids=[id])), None)

    def is_of(self, node: Any, who: Who) -> bool:
        """Decided by its tags."""
        tags = node.extra.get("tags", {})
        return bool(tags.get(ENSEMBLE) == who.ensemble and tags.get(INSTANCE) == who.instance)

    def instance(self, node: Any) -> str:
        """The value of its tag."""
        return str(node.extra.get("tags", {}).get(INSTANCE, ""))

    def node_of(self, node: Any) -> str:
        """The value of its tag."""
        return str(node.extra.get("tags", {}).get(NODE, ""))

    def make(self, driver: Any, who: Who, wanted: WantedMachine) -> Any:
        """libcloud makes the tags part of the request; a repeated request of the same job makes nothing."""
        more: dict[str, Any] = {"ex_metadata": who.labels, "ex_clienttoken": who.token}
        if wanted.key_pair:
            more["ex_keyname"] = wanted.key_pair
        if wanted.groups or self.settings.network:
            subnet = self._subnet(driver)
            more["ex_subnet"] = subnet
            if wanted.groups:
                more["ex_security_group_ids"] = self._group_ids(driver, subnet.extra["vpc_id"], wanted.groups)
        if self.settings.zone:
            more["location"] = self.location(driver)
        if wanted.disk:
            mapping = wanted.image.extra.get("block_device_mapping") or [{"device_name": "/dev/sda1"}]
            more["ex_blockdevicemappings"] = [
                {
                    "DeviceName": mapping[0]["device_name"],
                    "Ebs.VolumeSize": wanted.disk,
                    "Ebs.DeleteOnTermination": "true",
                }
            ]
        return driver.create_node(name=who.name, size=wanted.size, image=wanted.image, **more)

    def machine(self, driver: Any, node: Any) -> CloudMachine:
        """Includes the networks and ports of its interfaces, in their order."""
        interfaces = [i for i in self._interfaces(driver, {"attachment.instance-id": node.id}) if is_on(i, node.id)]
        interfaces.sort(key=lambda i: i.extra["attachment"].get("device_index") or 0)
        ids = list(dict.fromkeys(i.extra["subnet_id"] for i in interfaces))
        names = {s.id: s.name for s in driver.ex_list_subnets(subnet_ids=ids)} if ids else {}
        networks: dict[str, Any] = {}
        ports: dict[str, Any] = {}
        for interface in interfaces:
            id = interface.extra["subnet_id"]
            name, addresses = names.get(id, id), addresses_of(interface)
            network = networks.setdefault(name, {"network_name": name, "network_id": id, "addresses": []})
            network["addresses"].extend(addresses)
            ports[interface.name] = {
                "port_name": interface.name,
                "port_id": interface.id,
                "network_id": id,
                "mac_address": interface.extra.get("mac_address") or "",
                "addresses": addresses,
            }
        own = super().machine(driver, node)
        private = tuple(dict.fromkeys(a for p in ports.values() for a in p["addresses"])) or own.private
        return CloudMachine(own.id, own.name, own.state, private, own.public, networks, ports, own.instance)

    def location(self, driver: Any) -> Any:
        """An availability zone."""
        zone = self.settings.zone
        known = [place for place in driver.list_locations() if place.availability_zone is not None]
        found = next((p for p in known if zone in (p.availability_zone.name, p.name)), None)
        if found is None:
            names = ", ".join(sorted(p.availability_zone.name for p in known)[:8])
            raise Unsupported(f'there is no place "{zone}" ({names}): look at `zone`')
        return found

    def sizes(self, driver: Any, architecture: str) -> list[Any]:
        """The sizes of the present generation for an architecture; "" means x86."""
        arm = architecture in ARM
        return [
            s
            for s in driver.list_sizes()
            if (self.settings.sizes or s.extra.get("currentGeneration") != "No")
            and ("graviton" in str(s.extra.get("physicalProcessor")).lower()) == arm
        ]

    def image(self, driver: Any, wanted: str) -> Any | None:
        """The image with this id, else the newest one with this name."""
        if wanted.startswith("ami-"):
            found = driver.list_images(ex_filters={"image-id": wanted})
        else:
            found = driver.list_images(ex_filters={"name": wanted})
        return max(found, key=lambda i: str(i.extra.get("creation_date") or ""), default=None)

    # --------------------------------------------------------------------------------------------------- volumes

    def _volume(self, driver: Any, who: Who, id: str) -> Any | None:
        filters = {"volume-id": id} if id else own_of(who)
        return next((v for v in driver.list_volumes(ex_filters=filters) if not id or v.id == id), None)

    def make_volume(self, driver: Any, who: Who, size: int, snapshot: str) -> None:
        """The tags are part of the request; libcloud sets the name, which is one of them, afterwards."""
        driver.ex_create_tags = lambda *_: False
        try:
            with with_params(driver, "CreateVolume", {**tags_of("volume", who), "ClientToken": who.token}):
                super().make_volume(driver, who, size, snapshot)
        finally:
            del driver.ex_create_tags

    def snapshot(self, driver: Any, id: str) -> Any:
        """The snapshot with an id, even if its volume no longer exists."""
        from libcloud.compute.base import VolumeSnapshot

        return driver.list_snapshots(snapshot=VolumeSnapshot(id, driver))[0]

    def attach(self, driver: Any, node: Any, id: str, device: str) -> None:
        """At the device that is asked for, else at the next free one."""
        taken = {mapping["device_name"] for mapping in node.extra.get("block_device_mapping", ())}
        free = device or next((d for d in DEVICES if d not in taken), "")
        if not free:
            raise Unsupported(f"{node.name} has no free device for another volume: give the relationship a `device`")
        super().attach(driver, node, id, free)

    def detach(self, driver: Any, id: str) -> None:
        """The request names the machine, which some servers need."""
        (volume,) = driver.list_volumes(ex_filters={"volume-id": id})
        with with_params(driver, "DetachVolume", {"InstanceId": str(volume.extra.get("instance_id") or "")}):
            driver.detach_volume(volume)

    def attachment(self, extra: Mapping[str, Any]) -> tuple[str, str]:
        """The machine and device of the attachment."""
        return str(extra.get("instance_id") or ""), str(extra.get("device") or "")
