"""Trivial operations on hosts that are reached by SSH, against asyncssh that runs the same script over connections that
it uses again: as many at a time, over as many connections."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from benchmarks.measure import Run, interleaved, ordito, python, run, verdict
from benchmarks.operations import job_seconds

HOSTS = 4
NODES = 667
OPERATIONS = 3 * NODES
PARALLEL = 64
CONNECTIONS = 2
"""Over each host's; ``sshd`` takes ten commands at a time over one."""
OF_BARE = 0.80
"""The part of the speed of asyncssh that a whole job must reach, from its first event to its last: hosts are chosen and
connected to in it, and the script is brought there."""

BARE = """
import asyncio, json, sys, time
import asyncssh
hosts, count, parallel, over = json.loads(sys.argv[1]), *map(int, sys.argv[2:5])

async def main():
    connections = [await asyncssh.connect(**host) for host in hosts for _ in range(over)]
    places = [asyncio.Semaphore(parallel // len(connections)) for _ in connections]
    async def one(n):
        at = n % len(connections)
        async with places[at]:
            result = await connections[at].run("./nothing.sh")
            assert result.exit_status == 0
    await asyncio.gather(*(one(n) for n in range(len(connections))))
    began = time.perf_counter()
    await asyncio.gather(*(one(n) for n in range(count)))
    print(time.perf_counter() - began)
    for connection in connections:
        connection.close()

asyncio.run(main())
"""

HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  bench.Part:
    derived_from: tosca.nodes.SoftwareComponent
    interfaces:
      Standard:
        operations: { create: nothing.sh, configure: nothing.sh, start: nothing.sh }
topology_template:
  node_templates:
"""
SCRIPT = "#!/bin/bash\n:\n"


def main(*, times: int) -> None:
    """Print the wall time of both sides, and which part of the bare speed is reached."""
    from tests.support.real.hosts import SshHosts

    print(
        f"deploy of {OPERATIONS:,} trivial bash operations on {HOSTS} hosts over SSH, {PARALLEL} at a time "
        f"(wall, median of {times} interleaved)"
    )
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as name, SshHosts(Path(name) / "hosts") as hosts:
        folder = Path(name)
        # Room for sessions that close late, of which bare asyncssh would make a failure.
        started = [hosts.start(f"host-{n}", config="MaxSessions 32\n") for n in range(HOSTS)]
        known = str(hosts.known_hosts(started))
        bare_hosts, inventory = [], ["hosts:"]
        for host in started:
            script = host.home_outside / "nothing.sh"
            script.write_text(SCRIPT, encoding="utf-8")
            script.chmod(0o755)
            bare_hosts.append(
                {
                    "host": host.address,
                    "port": host.port,
                    "username": host.user,
                    "client_keys": [str(host.key)],
                    "known_hosts": known,
                    "config": None,
                    "agent_path": None,
                    "compression_algs": ["none"],
                }
            )
            inventory.append(
                f"  {host.name}: {{ address: {host.address}, port: {host.port}, user: {host.user}, agent: false, "
                f"identity: {host.key}, known_hosts: {known}, config: false, connections: {CONNECTIONS} }}"
            )
        _write(folder)
        ensembles = iter(range(10_000))

        def deploy() -> Run:
            target = folder / f"ensemble-{next(ensembles)}"
            # Each has an inventory of its own: hosts that one ensemble has are not given to another.
            target.mkdir()
            own = target / "hosts.yaml"
            own.write_text("\n".join(inventory) + "\n", encoding="utf-8")
            command = ["deploy", str(folder / "service.yaml"), "-e", str(target), "--hosts", str(own)]
            at_once = ["--parallel", str(PARALLEL), "--host-concurrency", str(PARALLEL // HOSTS)]
            return run(ordito(*command, "--yes", "--json", *at_once))

        def bare() -> Run:
            counts = map(str, (OPERATIONS, PARALLEL, CONNECTIONS))
            return run([python(), "-c", BARE, json.dumps(bare_hosts), *counts])

        (_, spoken), (_, runs) = interleaved([bare, deploy], times, lambda r: r.wall)
    least = statistics.median(float(r.output) for r in spoken)
    job = statistics.median(job_seconds(r) for r in runs)
    part = least / job
    said = f"   {part:4.2f} of asyncssh {verdict('of-bare', round(part, 2), OF_BARE, least=True)}"
    print(f"  {'asyncssh':31} {least:6.2f} s   {OPERATIONS / least:6.0f} a second")
    print(f"  {'ordito deploy, the job alone':31} {job:6.2f} s   {OPERATIONS / job:6.0f} a second{said}")


def _write(folder: Path) -> None:
    """The service, with a Compute for each host."""
    (folder / "nothing.sh").write_text(SCRIPT, encoding="utf-8")
    nodes = [f"    machine_{n}: {{ type: tosca.nodes.Compute }}\n" for n in range(HOSTS)]
    nodes += [
        f"    part_{n}: {{ type: bench.Part, requirements: [ host: machine_{n % HOSTS} ] }}\n" for n in range(NODES)
    ]
    (folder / "service.yaml").write_text(HEAD + "".join(nodes), encoding="utf-8")
