"""A small server that speaks as much of OpenStack's interfaces as machines, volumes and networks need: each path is a
collection, into which is put what is posted."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, urlsplit

SERVICES = {"compute": "nova", "network": "neutron", "image": "glance", "volumev3": "cinderv3"}
WHEN = "2026-01-01T00:00:00Z"


class World:
    """Everything that there is, by collection and id; and the passwords that were seen."""

    def __init__(self) -> None:
        self.things: dict[str, dict[str, dict[str, Any]]] = {}
        self.numbers = count(1)
        self.uploads: dict[str, bytes] = {}
        for id, name, cpus, ram in (("f1", "small", 1, 1024), ("f2", "large", 4, 8192)):
            self.put(
                "flavors", {"id": id, "name": name, "vcpus": cpus, "ram": ram, "disk": 20, "swap": "", "links": []}
            )
        self.put("images", {"id": "i1", "name": "debian-12", "status": "active"})
        self.put("networks", {"id": "out", "name": "outside", "router:external": True, "subnets": ["s"]})
        self.put("networks", {"id": "in", "name": "inside", "subnets": ["s"]})

    def all(self, collection: str) -> dict[str, dict[str, Any]]:
        """A collection."""
        return self.things.setdefault(collection, {})

    def put(self, collection: str, thing: dict[str, Any]) -> dict[str, Any]:
        """Add a thing, with what the server itself says of one."""
        id = thing.setdefault("id", f"{collection}-{next(self.numbers)}")
        made = getattr(self, f"made_{collection.replace('-', '_')}", None)
        self.all(collection)[id] = thing
        if made is not None:
            made(thing)
        return thing

    def made_servers(self, server: dict[str, Any]) -> None:
        """A machine runs at once, on the inner network or those that are asked for."""
        asked = server.pop("networks", None) or [{"uuid": "in"}]
        server |= {"status": "ACTIVE", "addresses": {}, "hostId": "h", "tenant_id": "t", "links": [], "image": None}
        server |= {"created": WHEN, "updated": WHEN, "flavor": {"id": server["flavorRef"]}, "key_name": None}
        server["links"] = [{"rel": "self", "href": "http://x"}]
        for network in asked:
            port = self.put("ports", {"network_id": network["uuid"], "name": "", "device_id": server["id"]})
            name = self.all("networks")[network["uuid"]]["name"]
            server["addresses"][name] = [{"addr": port["fixed_ips"][0]["ip_address"], "version": 4}]

    def made_images(self, image: dict[str, Any]) -> None:
        """An image knows when."""
        image |= {"created_at": WHEN, "updated_at": WHEN, "min_ram": 0, "min_disk": 0, "status": "active"}

    def made_ports(self, port: dict[str, Any]) -> None:
        """A port has an address."""
        port.setdefault("fixed_ips", [{"ip_address": f"10.1.0.{next(self.numbers)}"}])
        port |= {"mac_address": "fa:16:3e:00:00:01", "device_id": port.get("device_id", "")}

    def made_networks(self, network: dict[str, Any]) -> None:
        """A network is on a segment."""
        network.setdefault("subnets", [])
        network.setdefault("provider:segmentation_id", 77)

    def made_subnets(self, subnet: dict[str, Any]) -> None:
        """A subnet is one of its network's."""
        self.all("networks")[subnet["network_id"]]["subnets"].append(subnet["id"])

    def made_volumes(self, volume: dict[str, Any]) -> None:
        """A volume is there at once."""
        volume |= {"status": "available", "attachments": []}

    def made_floatingips(self, address: dict[str, Any]) -> None:
        """An address from outside."""
        address |= {"floating_ip_address": f"198.51.100.{next(self.numbers)}", "port_id": None}


class Answers(BaseHTTPRequestHandler):
    """Answers requests."""

    world: World
    url: str
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """A collection, or a thing."""
        parts, query = self._parts()
        collection = parts[0]
        found = list(self.world.all(collection).values())
        if len(parts) > 1 and parts[1] != "detail":
            thing = self.world.all(collection).get(parts[1])
            self._say(404 if thing is None else 200, {_one(collection): thing} if collection != "images" else thing)
            return
        matching = [t for t in found if all(str(t.get(name)) == value for name, value in query.items())]
        self._say(200, {collection.replace("-", "_"): matching})

    def do_POST(self) -> None:
        """A new thing; a token; a volume or a port for a machine."""
        parts, _ = self._parts()
        given = json.loads(self._body())
        if parts[-2:] == ["auth", "tokens"]:
            self._authenticate(given)
        elif parts[-1] == "os-volume_attachments":
            id = given["volumeAttachment"]["volumeId"]
            device = given["volumeAttachment"].get("device") or "/dev/vdb"
            self.world.all("volumes")[id]["attachments"] = [{"server_id": parts[1], "device": device, "id": id}]
            self.world.all("volumes")[id]["status"] = "in-use"
            self._say(200, {"volumeAttachment": {}})
        elif parts[-1] == "os-interface":
            self.world.all("ports")[given["interfaceAttachment"]["port_id"]]["device_id"] = parts[1]
            self._say(200, {})
        else:
            thing = self.world.put(parts[0], given if parts[0] == "images" else given[_one(parts[0])])
            self._say(202, thing if parts[0] == "images" else {_one(parts[0]): thing})

    def do_PUT(self) -> None:
        """Changes of a thing, or the content of an image."""
        parts, _ = self._parts()
        body = self._body()
        if parts[-1] == "file":
            self.world.uploads[parts[1]] = body
        else:
            thing = self.world.all(parts[0])[parts[1]]
            thing |= json.loads(body)[_one(parts[0])]
            if thing.get("port_id"):
                server = self.world.all("servers")[self.world.all("ports")[thing["port_id"]]["device_id"]]
                server["addresses"]["inside"].append({"addr": thing["floating_ip_address"], "version": 4})
        self._say(200, {})

    def do_DELETE(self) -> None:
        """It goes, and what is part of it."""
        parts, _ = self._parts()
        if "os-volume_attachments" in parts:
            self.world.all("volumes")[parts[-1]] |= {"attachments": [], "status": "available"}
        else:
            self.world.all(parts[0]).pop(parts[1], None)
        for other, link in (("ports", "device_id"), ("subnets", "network_id")) if len(parts) == 2 else ():
            for id in [i for i, t in self.world.all(other).items() if t.get(link) == parts[1]]:
                del self.world.all(other)[id]
        for volume in self.world.all("volumes").values():
            volume["attachments"] = [a for a in volume["attachments"] if a["server_id"] != parts[1]]
        self._say(204, None)

    def _authenticate(self, given: Mapping[str, Any]) -> None:
        user = given["auth"]["identity"]["password"]["user"]
        if user["password"] != "the password":
            self._say(401, {"error": {"message": "The request you have made requires authentication."}})
            return
        catalog = [
            {"type": kind, "name": name, "endpoints": [{"interface": "public", "region": "R", "url": self.url}]}
            for kind, name in SERVICES.items()
        ]
        token = {"expires_at": "2999-01-01T00:00:00.000000Z", "catalog": catalog, "user": {"id": "u"}, "roles": []}
        self._say(201, {"token": token}, {"X-Subject-Token": "t"})

    def _parts(self) -> tuple[list[str], dict[str, str]]:
        found = urlsplit(self.path)
        parts = [p for p in found.path.split("/") if p and p not in ("v2", "v2.0", "v2.1", "v3")]
        return parts, dict(parse_qsl(found.query))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            found = b""
            while size := int(self.rfile.readline(), 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _say(self, status: int, answer: object, headers: Mapping[str, str] | None = None) -> None:
        body = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)


def _one(collection: str) -> str:
    return collection.replace("-", "_").removesuffix("s")


class OpenStackServer:
    """The server on loopback, with an empty world."""

    def __init__(self) -> None:
        self.world = World()
        handler = type("Handler", (Answers,), {"world": self.world})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        handler.url = self.url  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> OpenStackServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
