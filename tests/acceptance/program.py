"""Running the real program on real services: what the acceptance tests share."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import forked
from tests.support.forked import Running
from tests.support.golden import note
from tests.support.yaml_files import read_yaml

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "examples" / "shop"
CHANGE_ID = re.compile(r"\b[0-9A-Za-z]{8}[0-9a-f]{4}\b")
LIMIT = 90.0


@dataclass(frozen=True)
class Finished:
    """A finished process: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def both(self) -> str:
        """Everything it printed."""
        return self.out + self.err


def environment(home: Path) -> dict[str, str]:
    """A bare environment with a home of its own, and the program that these tests lie beside."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT / "src")}


def ordito(home: Path, *arguments: str | Path, code: str = "", limit: float = LIMIT) -> Finished:
    """Run ``ordito`` to its end; ``code`` is Python that runs first in the same process, to break it on purpose."""
    process = start(home, *arguments, code=code)
    out, err = process.communicate(timeout=limit)
    note(arguments, process.wait(), out)
    return Finished(process.wait(), out, err)


def start(home: Path, *arguments: str | Path, code: str = "") -> Running:
    """Start ``ordito`` and leave it running."""
    return forked.start(home, environment(home), [str(a) for a in arguments], code)


def status_of(ensemble: Path) -> dict[str, Any]:
    """The machine part of an ensemble, without what differs from run to run: change ids."""
    text = (ensemble / "ensemble.yaml").read_text(encoding="utf-8")
    document = read_yaml(CHANGE_ID.sub("ID", text))
    status = document["status"]
    assert isinstance(status, dict)
    return status


def files_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder with their contents, the program's own working files left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and relative.parts[0] != ".ordito":
            found[str(relative)] = path.read_bytes()
    return found


def copied(made: Path, home: Path) -> Path:
    """Copy a home with what is deployed in it, which names no place that is not below its home."""
    return Path(shutil.copytree(made, home, symlinks=True, dirs_exist_ok=True))


def free_ports(count: int) -> int:
    """The first of ``count`` neighbouring ports that nobody listens on, far from those of other test processes."""
    for turn in range(400):
        base = 11_000 + (os.getpid() + turn) % 400 * 50
        if not any(is_open(base + n) for n in range(count)):
            return base
    raise AssertionError("no free ports")


def is_open(port: int) -> bool:
    """Whether somebody listens on a port of this machine."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass(frozen=True)
class Project:
    """A service and its ensemble, both below ``home``."""

    home: Path
    service: Path

    @property
    def ensemble(self) -> Path:
        """Its ensemble."""
        return self.home / "ensemble"

    @property
    def log(self) -> Path:
        """The operations' own log: a line when an operation begins and one when it has ended well."""
        return self.home / "operations.log"

    def deploying(self, *inputs: str) -> list[str]:
        """The arguments that deploy it."""
        return ["deploy", str(self.service), "-e", str(self.ensemble), "--yes", *inputs]

    def run(self, *arguments: str, code: str = "") -> Finished:
        """Run another command on its ensemble."""
        return ordito(self.home, *arguments, "-e", self.ensemble, code=code)


@dataclass(frozen=True)
class Shop(Project):
    """A shop of its own, with ports and a data directory of its own."""

    port: int

    @property
    def directory(self) -> Path:
        """Where its processes keep their files."""
        return self.home / "data"

    def inputs(self, instances: int) -> list[str]:
        """The inputs that make it this shop."""
        values = {
            "web_instances": instances,
            "port": self.port,
            "api_port": self.port + 1,
            "web_port": self.port + 2,
            "directory": self.directory,
        }
        return [part for name, value in values.items() for part in ("-i", f"{name}={value}")]

    def deploy(self, instances: int, code: str = "") -> Finished:
        """Deploy it."""
        return ordito(self.home, *self.deployment(instances), code=code)

    def deployment(self, instances: int) -> list[str]:
        """The arguments that deploy it."""
        return self.deploying(*self.inputs(instances))

    def leftovers(self) -> list[str]:
        """What is left of it: open ports, processes that name its directory, files."""
        deadline = time.monotonic() + 60
        while True:
            left = [f"port {p}" for p in range(self.port, self.port + 22) if is_open(p)]
            left += [f"process {p}" for p in processes_naming(str(self.directory))]
            left += [str(p) for p in self.directory.rglob("*")]
            if not left or time.monotonic() > deadline:
                return left
            time.sleep(0.02)


def make_shop(home: Path) -> Shop:
    """A copy of the shop whose scripts log that they begin and that they ended well."""
    service = home / "shop"
    shutil.copytree(SHOP, service)
    shop = Shop(home, service / "service.yaml", free_ports(22))
    for script in (service / "scripts").glob("*.sh"):
        text = script.read_text(encoding="utf-8")
        first, _, rest = text.partition("\n")
        if first.startswith("#!"):
            script.write_text(f"{first}\n{LOGGING.format(log=shop.log)}\n{rest}", encoding="utf-8")
    for script in (service / "scripts").glob("*.py"):
        text = script.read_text(encoding="utf-8")
        script.write_text(text + PYTHON_LOGGING.format(log=shop.log), encoding="utf-8")
    return shop


LOGGING = """\
_running="{log}.$ORDITO_STEP" _other=
if [ -e "$_running" ]; then read -r _other <"$_running"; fi
if [ -n "$_other" ] && [ "$_other" != $$ ] && kill -0 "$_other" 2>/dev/null; then
    echo "overlap $ORDITO_JOB $ORDITO_STEP $$" >>"{log}"
fi
echo $$ >"$_running"
echo "begin $ORDITO_JOB $ORDITO_STEP $$" >>"{log}"
trap 'exit 143' TERM
trap 'if [ $? = 0 ]; then echo "end $ORDITO_JOB $ORDITO_STEP $$" >>"{log}"; fi; : >"$_running"' EXIT
"""
"""What operations in Bash begin with. It starts no processes, as each costs more than Bash itself: the file that says
who is at work is emptied and not removed."""
PYTHON_LOGGING = """
import os as _os
with open("{log}", "a") as _log:
    _log.write(f"begin {{_os.environ['ORDITO_JOB']}} {{_os.environ['ORDITO_STEP']}} {{_os.getpid()}}\\n"
               f"end {{_os.environ['ORDITO_JOB']}} {{_os.environ['ORDITO_STEP']}} {{_os.getpid()}}\\n")
"""


SMALL = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  small.Node:
    derived_from: tosca.nodes.Root
    attributes: { mark: { type: string } }
    requirements:
      - peer:
          capability: tosca.capabilities.Node
          node: small.Node
          relationship: small.Link
          occurrences: [ 0, UNBOUNDED ]
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations:
          create: { implementation: do.sh, outputs: { mark: [ SELF, mark ] } }
          configure: do.sh
          start: do.sh
          stop: do.sh
          delete: do.sh
relationship_types:
  small.Link:
    derived_from: tosca.relationships.DependsOn
    interfaces:
      Configure:
        type: tosca.interfaces.relationship.Configure
        operations: { add_target: do.sh, remove_target: do.sh }
topology_template:
  node_templates:
    base: { type: small.Node }
    middle: { type: small.Node, requirements: [ { peer: base } ] }
    top: { type: small.Node, requirements: [ { peer: base }, { peer: middle } ] }
  outputs:
    mark: { value: { get_attribute: [ top, mark ] } }
"""
"""Three nodes with operations of all kinds."""
SMALL_SCRIPT = """\
set -eu
while [ -e "$HOME/hold" ]; do sleep 0.1; done
thing=$HOME/things/${{INSTANCE:-$SOURCE-$TARGET}}
fail() {{
    local failing=
    [ ! -e "$HOME/failing" ] || read -r failing <"$HOME/failing" || true
    [ "$failing" != "$1 $ORDITO_STEP" ] || exit 7
}}
fail before
case ${{ORDITO_STEP##*.}} in
    create) : >"$thing.created" ;;
    start) : >"$thing.started" ;;
    add_target) : >"$thing.linked" ;;
    stop) rm -f "$thing.started" ;;
    delete) rm -f "$thing.created" ;;
    remove_target) rm -f "$thing.linked" ;;
esac
mark=${{thing##*/}}
fail after
"""
"""What the operations of the small service make and remove is a file each, in ``things``. They wait while there is a
file ``hold``; the file ``failing`` names the one that is to fail, and whether before or after it has done its part."""


@dataclass(frozen=True)
class Small(Project):
    """A small service that starts no processes."""

    def things(self) -> list[str]:
        """What its operations have made and not removed."""
        return sorted(path.name for path in (self.home / "things").iterdir())

    def deploy(self, code: str = "") -> Finished:
        """Deploy it."""
        return ordito(self.home, *self.deploying(), code=code)


def make_small(home: Path) -> Small:
    """A small service whose scripts log that they begin and that they ended well."""
    folder = home / "small"
    folder.mkdir()
    (home / "things").mkdir()
    small = Small(home, folder / "service.yaml")
    small.service.write_text(SMALL, encoding="utf-8")
    script = f"#!/bin/bash\n{LOGGING}\n{SMALL_SCRIPT}".format(log=small.log)
    (folder / "do.sh").write_text(script, encoding="utf-8")
    return small


def completed_twice(log: Path) -> list[str]:
    """The steps that the operations' own log shows completed more than once. The check of what is in doubt is asked
    again where it was asked and nobody has heard the answer."""
    ended: dict[tuple[str, str], int] = {}
    for kind, job, step, _ in log_lines(log):
        if kind == "end" and not step.endswith(".check"):
            ended[job, step] = ended.get((job, step), 0) + 1
    return [f"{job} {step}" for (job, step), times in ended.items() if times > 1]


def overlaps(log: Path) -> list[str]:
    """The runs of a step that began while another run of the same step was alive."""
    return [f"{job} {step}" for kind, job, step, _ in log_lines(log) if kind == "overlap"]


def log_lines(log: Path) -> Iterator[list[str]]:
    """The whole lines of an operations' log, taken apart."""
    text = log.read_text(encoding="utf-8") if log.exists() else ""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4:
            yield words


def processes_naming(text: str) -> list[int]:
    """The processes, zombies left out, whose command line holds a text."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in command:
            found.append(int(entry.name))
    return found


def get(url: str) -> tuple[Any, Mapping[str, str]]:
    """The JSON that a server answers, and its headers."""
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer), dict(answer.headers)


def post(url: str, data: object) -> Any:
    """Send JSON to a server; its answer."""
    request = urllib.request.Request(url, json.dumps(data).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@contextmanager
def removed_after(shop: Shop) -> Iterator[Shop]:
    """Take a shop down at the end whatever happened, so that no test leaves processes behind."""
    try:
        yield shop
    finally:
        if (shop.ensemble / "ensemble.yaml").exists():
            shop.run("jobs", "resume")
            shop.run("undeploy", "--yes")
        for pid in processes_naming(str(shop.directory)):
            os.kill(pid, 9)
