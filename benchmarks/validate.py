"""``ordito validate`` against a bare loop over libyaml's events of the same file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measure import interleaved, ordito, python, run

EVENTS = """
import sys
from yaml._yaml import CParser
from yaml import StreamEndEvent
with open(sys.argv[1], encoding="utf-8") as file:
    parser = CParser(file.read())
while type(parser.get_event()) is not StreamEndEvent:
    pass
"""

HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3

node_types:
  bench.Component:
    derived_from: tosca.nodes.SoftwareComponent
    properties:
      port: { type: tosca.datatypes.network.PortDef }
      title: { type: string, constraints: [ { min_length: 1 } ] }
      cache: { type: scalar-unit.size, default: 1 GB }
    capabilities:
      service: { type: tosca.capabilities.Endpoint }

topology_template:
  node_templates:
"""

APPLICATION = """\
    machine_{n}:
      type: tosca.nodes.Compute
      capabilities:
        host:
          properties:
            num_cpus: {cpus}
            mem_size: {cpus} GB
            disk_size: 10 GB
        os:
          properties:
            type: linux
            distribution: debian
            version: '12.0'
    component_{n}:
      type: bench.Component
      properties:
        port: {port}
        title: component number {n}
        component_version: 1.{n}.0
      requirements:
        - host: machine_{n}
      interfaces:
        Standard:
          operations:
            create: create.sh
            start:
              implementation: start.sh
              inputs:
                PORT: {{ get_property: [ SELF, port ] }}
"""


def write_applications(folder: Path, count: int) -> Path:
    """Write a service template of ``count`` applications, a Compute and a hosted component each."""
    for script in ("create.sh", "start.sh"):
        (folder / script).write_text("#!/bin/sh\n", encoding="utf-8")
    file = folder / f"applications-{count}.yaml"
    parts = (APPLICATION.format(n=n, cpus=1 + n % 16, port=1024 + n % 60_000) for n in range(count))
    file.write_text(HEAD + "".join(parts), encoding="utf-8")
    return file


def main(*, times: int) -> None:
    """Print CPU time of both sides and their ratio, for 1,000 and 10,000 applications."""
    print(f"validate (user+system CPU of whole processes, median of {times} interleaved runs)")
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as folder:
        for count in (1_000, 10_000):
            file = str(write_applications(Path(folder), count))
            (events, _), (own, _) = interleaved(
                [lambda f=file: run([python(), "-c", EVENTS, f]), lambda f=file: run(ordito("validate", f))],  # type: ignore[misc]
                times,
                lambda r: r.cpu,
            )
            print(
                f"  {count:>6,} applications   events {events:6.2f} s   ordito validate {own:6.2f} s"
                f"   ratio {own / events:5.2f}   {own / count * 1e6:6.0f} us an application"
            )
