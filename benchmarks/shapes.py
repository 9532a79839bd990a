"""Reading services that are deep or wide in one way: what four times the size costs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import interleaved, python, run, verdict

HEAD = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
RESOLVE = """
import sys, time
from ordito.base.diagnostics import Diagnostics
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package
began = time.process_time()
found = Diagnostics()
service = resolve_service(open_package(sys.argv[1], found), found)
assert service is not None, [str(d) for d in found][:3]
print(time.process_time() - began)
"""
MOST_GROWTH = 1.5
"""How many times more than four times the cost four times the size may have."""


def derivation(folder: Path, levels: int) -> Path:
    """One node type derived from another, level upon level, each with a property, and a template of the last."""
    types = ["  bench.T0: { derived_from: tosca.nodes.Root }"]
    types += [
        f"  bench.T{n}: {{ derived_from: bench.T{n - 1}, properties: {{ p{n}: {{ type: integer, default: {n} }} }} }}"
        for n in range(1, levels)
    ]
    template = f"topology_template:\n  node_templates:\n    n: {{ type: bench.T{levels - 1} }}\n"
    return _written(folder / "derivation.yaml", HEAD + "node_types:\n" + "\n".join(types) + "\n" + template)


def hosting(folder: Path, levels: int) -> Path:
    """Layer upon layer upon a ground; an attribute of the topmost is asked for."""
    types = (
        "  bench.Ground:\n    derived_from: tosca.nodes.Root\n"
        "    capabilities: { host: tosca.capabilities.Container }\n    attributes: { place: { type: string } }\n"
        "  bench.Layer:\n    derived_from: bench.Ground\n"
        "    requirements: [ host: { capability: tosca.capabilities.Container, relationship: HostedOn } ]"
    )
    lines = [HEAD + "node_types:", types, "topology_template:", "  node_templates:", "    n0: { type: bench.Ground }"]
    lines += [f"    n{n}: {{ type: bench.Layer, requirements: [ host: n{n - 1} ] }}" for n in range(1, levels)]
    last = f"n{levels - 1}"
    lines += ["  outputs:", f"    address: {{ value: {{ get_attribute: [ {last}, place ] }} }}"]
    return _written(folder / "hosting.yaml", "\n".join(lines) + "\n")


def diamond(folder: Path, templates: int) -> Path:
    """Layers of ten templates, each of which depends on all of the next layer."""
    lines = [HEAD + "topology_template:", "  node_templates:"]
    for number in range(templates):
        following = range((number // 10 + 1) * 10, min((number // 10 + 2) * 10, templates))
        needs = ", ".join(f"dependency: n{n}" for n in following)
        lines.append(f"    n{number}: {{ type: Root, requirements: [ {needs} ] }}")
    return _written(folder / "diamond.yaml", "\n".join(lines) + "\n")


def imports(folder: Path, files: int) -> Path:
    """Files that each define a type, all imported by one, and each importing the one before it."""
    place = folder / "imports"
    place.mkdir()
    for number in range(files):
        text = HEAD + (f"imports: [ t{number - 1}.yaml ]\n" if number else "")
        parent = f"bench.T{number // 2}" if number else "tosca.nodes.Root"
        text += f"node_types:\n  bench.T{number}: {{ derived_from: {parent} }}\n"
        _written(place / f"t{number}.yaml", text.replace("bench.T0: { derived_from: bench.T0 }", "bench.T0: {}"))
    lines = "".join(f"  - t{n}.yaml\n" for n in range(files))
    template = f"topology_template:\n  node_templates:\n    n: {{ type: bench.T{files - 1} }}\n"
    return _written(place / "service.yaml", HEAD + "imports:\n" + lines + template)


def _written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


SHAPES: dict[str, tuple[Callable[[Path, int], Path], int]] = {
    "levels of derivation": (derivation, 1_600),
    "levels of hosting": (hosting, 16_000),
    "templates in a layered diamond": (diamond, 4_000),
    "imports": (imports, 5_000),
}


def main(*, times: int) -> None:
    """Print the CPU time of reading each shape, at its size and at a quarter of it, in processes of their own."""
    print(f"shapes (CPU of reading and resolving, median of {times} interleaved runs)")
    for name, (write, size) in SHAPES.items():
        with tempfile.TemporaryDirectory(prefix="ordito-bench-") as folder:
            places = [Path(folder) / part for part in ("small", "full")]
            for place in places:
                place.mkdir()
            files = [write(places[0], size // 4), write(places[1], size)]
            sides = [lambda f=f: run([python(), "-c", RESOLVE, str(f)]) for f in files]
            (small, _), (full, _) = interleaved(sides, times, lambda r: float(r.output))
            growth = full / small / 4
            said = verdict(name.replace(" ", "-"), round(growth, 2), MOST_GROWTH, "times")
            print(
                f"  {size:>6,} {name:31} {full:6.2f} s   a quarter {small:6.2f} s"
                f"   growth beyond linear {growth:5.2f} {said}"
            )
