"""``ordito validate`` against a bare loop over libyaml's events of the same file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measure import interleaved, ordito, python, run, verdict

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


BLUEPRINT_HEAD = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
data_types:
  bench.Port: { properties: { port: { type: integer }, protocol: { type: string, default: tcp } } }
node_types:
  bench.Component:
    derived_from: cloudify.nodes.SoftwareComponent
    properties:
      port: { type: bench.Port }
      title: { type: string }
      cache: { type: string, default: 1 GB }
      component_version: { type: string }
node_templates:
"""

BLUEPRINT_APPLICATION = """\
  machine_{n}:
    type: cloudify.nodes.Compute
    properties:
      ip: 10.0.0.1
      os_family: linux
      agent_config:
        install_method: remote
        user: debian
        port: 22
  component_{n}:
    type: bench.Component
    properties:
      port: {{ port: {port} }}
      title: component number {n}
      component_version: 1.{n}.0
    relationships:
      - type: cloudify.relationships.contained_in
        target: machine_{n}
    interfaces:
      cloudify.interfaces.lifecycle:
        create: create.sh
        start:
          implementation: start.sh
          inputs:
            PORT: {{ get_property: [ SELF, port ] }}
"""


def write_blueprint(folder: Path, count: int) -> Path:
    """Write the same applications as a blueprint of Cloudify."""
    file = folder / f"blueprint-{count}.yaml"
    parts = (BLUEPRINT_APPLICATION.format(n=n, port=1024 + n % 60_000) for n in range(count))
    file.write_text(BLUEPRINT_HEAD + "".join(parts), encoding="utf-8")
    return file


RATIOS = {1_000: 5.0, 10_000: 4.0}
"""How many times the CPU of the bare loop validation may cost, by the number of applications."""
MOST_GROWTH = 1.15
"""How many times the CPU for one application of 1,000 one of 10,000 may cost."""
OF_BLUEPRINT = {500: 1.3}
"""How many times the CPU of a service template a blueprint of the same applications may cost, of two nodes each."""
MOST_MEMORY = 350
"""MiB, for 10,000 applications."""


def main(*, times: int) -> None:
    """Print CPU time of both sides and their ratio for 1,000 and 10,000 applications, and the most memory."""
    print(f"validate (user+system CPU of whole processes, median of {times} interleaved runs)")
    costs = {}
    with tempfile.TemporaryDirectory(prefix="ordito-bench-") as folder:
        for count, bar in RATIOS.items():
            file = str(write_applications(Path(folder), count))
            (events, _), (own, runs) = interleaved(
                [lambda f=file: run([python(), "-c", EVENTS, f]), lambda f=file: run(ordito("validate", f))],  # type: ignore[misc]
                times,
                lambda r: r.cpu,
            )
            costs[count] = own / count
            ratio = own / events
            said = verdict(f"events-{count}", round(ratio, 2), bar, "times")
            memory = max(r.memory for r in runs)
            print(
                f"  {count:>6,} applications   events {events:5.2f} s   ordito {own:5.2f} s"
                f"   ratio {ratio:5.2f} {said}   {costs[count] * 1e6:4.0f} us an application"
                f"   {memory:4.0f} MiB{_memory(memory) if count == 10_000 else ''}"
            )
        for count, bar in OF_BLUEPRINT.items():
            files = str(write_applications(Path(folder), count)), str(write_blueprint(Path(folder), count))
            (template, _), (blueprint, _) = interleaved(
                [lambda f=file: run(ordito("validate", f)) for file in files],  # type: ignore[misc]
                times,
                lambda r: r.cpu,
            )
            ratio = blueprint / template
            said = verdict(f"blueprint-{count}", round(ratio, 2), bar, "times")
            print(f"  {count:>6,} applications   template {template:5.2f} s   blueprint {blueprint:5.2f} s   {said}")
    growth = round(costs[10_000] / costs[1_000], 2)
    said = verdict("growth", growth, MOST_GROWTH, "times")
    print(f"  an application of 10,000 costs {growth:.2f} times one of 1,000 {said}")


def _memory(memory: float) -> str:
    return " " + verdict("memory", round(memory), MOST_MEMORY, "MiB")
