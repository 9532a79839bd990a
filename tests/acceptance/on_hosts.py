"""Services on hosts of the tests' own: what the acceptance tests of real targets share."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance.program import LOGGING, SHOP, Finished, ordito, start, status_of
from tests.support.forked import Running
from tests.support.real.hosts import SshHost, SshHosts


def write_inventory(place: Path, hosts: SshHosts, members: Sequence[SshHost], **more: str) -> Path:
    """An inventory of these hosts, with the keys that they have now; ``more`` are other defaults, in YAML."""
    defaults = {
        "user": members[0].user,
        "identity": str(hosts.key),
        "known_hosts": str(hosts.known_hosts(members)),
        "config": "false",
        "agent": "false",
        "connect_timeout": "3 s",
        "keep_alive": "1 s",
        **more,
    }
    lines = ["defaults:", *(f"  {name}: {text}" for name, text in defaults.items()), "hosts:"]
    lines += [f"  {host.name}: {{ address: {host.address}, port: {host.port} }}" for host in members]
    place.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return place


SOON = """\
import ordito.engine.delegates as engine
import ordito.providers.pool.provider as pool
engine.REACHED_WITHIN = engine.LENT_WITHIN = pool.REACH_SECONDS = 1.0
"""
"""A host that is waited for is given up soon."""


@dataclass(frozen=True)
class Hosted:
    """A service, its ensemble and an inventory, all below ``home``."""

    home: Path
    service: Path

    @property
    def ensemble(self) -> Path:
        """Its ensemble."""
        return self.home / "ensemble"

    @property
    def inventory(self) -> Path:
        """The inventory of its hosts."""
        return self.home / "hosts.yaml"

    def words(self, *arguments: str) -> list[str]:
        """The arguments of a command on its ensemble."""
        return [*arguments, "-e", str(self.ensemble)]

    def deploying(self, *arguments: str) -> list[str]:
        """The arguments that deploy it."""
        return self.words("deploy", str(self.service), "--hosts", str(self.inventory), "--yes", *arguments)

    def deploy(self, *arguments: str, code: str = "") -> Finished:
        """Deploy it."""
        return ordito(self.home, *self.deploying(*arguments), code=SOON + code)

    def run(self, *arguments: str) -> Finished:
        """Run another command on its ensemble."""
        return ordito(self.home, *self.words(*arguments), code=SOON)

    def run_words(self, arguments: Sequence[str], code: str = "") -> Finished:
        """Run a command that is written out, to its end."""
        return ordito(self.home, *arguments, code=SOON + code)

    def start(self, *arguments: str, code: str = "") -> Running:
        """Start a command and leave it running."""
        return start(self.home, *arguments, code=SOON + code)

    def instances(self) -> dict[str, Any]:
        """What is recorded of its instances."""
        found = status_of(self.ensemble)["instances"]
        assert isinstance(found, dict)
        return found

    def state(self, instance: str) -> tuple[str, str]:
        """The state of an instance and its own status."""
        ready = self.instances()[instance]["readyState"]
        return ready["state"], ready["local"]

    def host_of(self, machine: str) -> str:
        """The name of the host that a Compute has."""
        return str(self.instances()[machine]["attributes"]["ordito.host"]["id"])

    def taken(self) -> dict[str, str]:
        """Which hosts are taken or lost, by name."""
        listed = json.loads(self.run("hosts", "list", "-o", "json").out)
        return {host["name"]: host["state"] for host in listed["hosts"] if host["state"] != "free"}


# -------------------------------------------------------------------------------------------------------- the shop


def hosted_shop(home: Path) -> Hosted:
    """A copy of the shop."""
    shutil.copytree(SHOP, home / "shop")
    return Hosted(home, home / "shop" / "service.yaml")


def shop_folder(host: SshHost) -> set[str]:
    """The instances that have files on a host."""
    folder = host.root / "tmp" / "ordito-shop"
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


# --------------------------------------------------------------------------------------------- one small application

APPLICATION = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    machine: { type: tosca.nodes.Compute }
    app:
      type: tosca.nodes.SoftwareComponent
      requirements: [ { host: machine } ]
      artifacts:
        data: { type: tosca.artifacts.File, file: data.txt }
      interfaces:
        Standard:
          operations:
            create: do.sh
            configure: do.sh
            start: do.sh
            stop: do.sh
            delete: do.sh
"""
SCRIPT = """\
set -eu
step=${ORDITO_STEP##*.}
mkdir -p /tmp/app
if [ -e "/tmp/app/hold-$step" ]; then
    echo "holds $step"
    touch /tmp/app/holding
    until [ -e /tmp/app/go ]; do sleep 0.05; done
fi
case $step in
    create) touch /tmp/app/created ;;
    delete) rm -f /tmp/app/created ;;
esac
"""
LOG = "/tmp/app/operations.log"


def application(home: Path) -> Hosted:
    """An application on one host whose operations say that they begin and that they ended well (``LOG`` there). One
    for which there is a file ``/tmp/app/hold-NAME`` makes ``holding``, and waits for ``go``."""
    folder = home / "service"
    folder.mkdir()
    (folder / "service.yaml").write_text(APPLICATION, encoding="utf-8")
    (folder / "data.txt").write_text("data\n", encoding="utf-8")
    logged = "[ -d /tmp/app ] || mkdir -p /tmp/app\n" + LOGGING.format(log=LOG)
    (folder / "do.sh").write_text(f"#!/bin/bash\n{logged}{SCRIPT}", encoding="utf-8")
    return Hosted(home, folder / "service.yaml")


def hold(host: SshHost, *operations: str) -> None:
    """Let these operations wait on a host."""
    folder = host.root / "tmp" / "app"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    for operation in operations:
        (folder / f"hold-{operation}").touch()


def let_go(host: SshHost) -> None:
    """Let what waits on a host go on, and nothing wait any more."""
    (host.root / "tmp/app/go").touch()


def has_begun(host: SshHost) -> None:
    """Wait until an operation waits on a host."""
    host.run("sh", "-c", "timeout 30 sh -c 'until [ -e /tmp/app/holding ]; do sleep 0.01; done'")


def has_ended(host: SshHost, operation: str) -> None:
    """Wait until an operation has ended well on a host."""
    host.run("sh", "-c", f"timeout 30 sh -c 'until grep -q \"end .*{operation} \" {LOG}; do sleep 0.01; done'")


def operations(host: SshHost) -> list[str]:
    """What the log of a host says, an operation's beginning or end each."""
    log = Path(f"{host.root}{LOG}")
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [f"{kind} {step.rpartition('.')[2]}" for kind, _, step, _ in lines]
