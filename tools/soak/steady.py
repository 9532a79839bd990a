"""Jobs of thousands of steps that run as long as one likes, on this machine or on a host that is reached by SSH."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path

from tests.acceptance.on_hosts import write_inventory
from tests.acceptance.program import Finished, environment, ordito
from tests.support.real.hosts import SshHost, SshHosts
from tools.soak.shop import Broken
from tools.soak.watching import PAUSE, look

STEPS_A_SECOND = 16
AT_ONCE = 4
SAID = b"says what such operations say"
SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  steady.Part:
    derived_from: tosca.nodes.SoftwareComponent
    attributes: { mark: { type: string } }
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations:
          create: { implementation: part.sh, outputs: { mark: [ SELF, mark ] } }
          configure: part.sh
          start: part.sh
          delete: part.sh
topology_template:
  inputs: { count: { type: integer } }
  node_templates:
    machine: { type: tosca.nodes.Compute, metadata: { ordito.concurrency: '@AT_ONCE@' } }
    part:
      type: steady.Part
      occurrences: [ 0, UNBOUNDED ]
      instance_count: { get_input: count }
      requirements: [ { host: machine } ]
"""
SCRIPT = """\
#!/bin/bash
# An operation that takes its time without a process that waits, until there is a file that says to hurry.
set -eu
cd "$HOME"
mkdir -p parts
case $ORDITO_OPERATION in
    create) : >"parts/$INSTANCE" ;;
    delete) rm "parts/$INSTANCE" ;;
esac
echo "$ORDITO_STEP @SAID@"
mark=$INSTANCE
if [ ! -e hurry ]; then
    [ -p pace ] || mkfifo pace 2>/dev/null || true
    read -rt @PAUSE@ <>pace || true
fi
"""


class Steady:
    """A job that makes one instance after the other; a command of its own that is watched while it does."""

    def __init__(self, home: Path, seconds: float, hosts: SshHosts | None = None) -> None:
        self.home = home
        self.ensemble = home / "ensemble"
        (home / "service").mkdir(parents=True)
        service, script = home / "service" / "service.yaml", home / "service" / "part.sh"
        service.write_text(SERVICE.replace("@AT_ONCE@", str(AT_ONCE)), encoding="utf-8")
        text = SCRIPT.replace("@PAUSE@", f"{AT_ONCE / STEPS_A_SECOND}").replace("@SAID@", SAID.decode())
        script.write_text(text, encoding="utf-8")
        # Twice as many as it can make, so that it is at work until it is told to stop.
        count = int(2 * seconds * STEPS_A_SECOND / 3)
        self.host: SshHost | None = None
        self.removal_bytes = 0
        more: list[str] = []
        if hosts is not None:
            self.host = hosts.start("steady")
            inventory = write_inventory(home / "hosts.yaml", hosts, [self.host])
            more = ["--hosts", str(inventory)]
        words = ["deploy", str(service), "-i", f"count={count}", "-e", str(self.ensemble), "--yes", "-q", *more]
        self.process = begin(home, *words)

    @property
    def parts(self) -> Path:
        """Where each part has a file."""
        return (self.host.home_outside if self.host else self.home) / "parts"

    def steps(self) -> int:
        """How many steps have ended so far."""
        with (self.ensemble / ".ordito" / "logs").joinpath(self._log()).open("rb") as log:
            return sum(SAID in line for line in log)

    def _log(self) -> str:
        return next(p.name for p in (self.ensemble / ".ordito" / "logs").iterdir() if p.suffix == ".log")

    def said(self) -> str:
        """The end of what the command said."""
        return (self.home / "said").read_text(encoding="utf-8", errors="replace")[-3000:]

    def finish(self) -> int:
        """Cancel the job, remove what it has made, and see that nothing is left; gives how many steps it had."""
        if self.process.poll() is not None:
            raise Broken(f"the steady job has ended with {self.process.returncode}: {self.said()}")
        self._must(0, ordito(self.home, "jobs", "cancel", "-e", self.ensemble))
        self.process.wait(timeout=60)
        if self.process.returncode != 130:
            raise Broken(f"the steady job was cancelled and ended with {self.process.returncode}: {self.said()}")
        steps = self.steps()
        (self.parts.parent / "hurry").touch()
        self._remove()
        if left := sorted(path.name for path in self.parts.iterdir()):
            raise Broken(f"the steady job has left {left[:5]}")
        return steps

    def _remove(self) -> None:
        """Remove all, and see how much memory that takes."""
        process = begin(self.home, "undeploy", "-e", str(self.ensemble), "--yes", "-q")
        while (code := process.poll()) is None:
            if (now := look(process.pid, 0.0)) is not None:
                self.removal_bytes = max(self.removal_bytes, now.bytes)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=PAUSE)
        if code != 0:
            raise Broken(f"exit code {code} in place of 0: {self.said()}")

    def _must(self, code: int, done: Finished) -> None:
        if done.code != code:
            raise Broken(f"exit code {done.code} in place of {code}: {done.both[-3000:]}")

    def end(self) -> None:
        """End it, whatever happened."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.host is None:
            shutil.rmtree(self.home, ignore_errors=True)


def begin(home: Path, *words: str) -> subprocess.Popen[bytes]:
    """Begin a command as the process that it is in practice, with what it says in a file of the directory."""
    with (home / "said").open("ab") as said:
        command = [sys.executable, "-m", "ordito", *words]
        return subprocess.Popen(
            command, cwd=home, env=environment(home), stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
