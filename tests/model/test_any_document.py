"""Whatever stands in a document, reading it gives a service or diagnostics, and never an exception."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ordito.base.diagnostics import Diagnostics
from ordito.model.inputs import bind_inputs
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.opening import open_package
from tests.support.thorough import examples

SHOP = Path(__file__).parents[2] / "examples" / "shop"
DATA = Path(__file__).parent / "data"
TEXTS = [p.read_text(encoding="utf-8") for p in sorted([*SHOP.glob("*.yaml"), *DATA.glob("*/*.yaml")])]
WORDS = sorted({w for t in TEXTS for w in re.findall(r"[A-Za-z_][\w.]+", t) if "^" not in w})[:600]
NASTY = [
    *r"""[]
{}
[ ~ ]
{ ~: ~ }
1e999
0
-1
.nan
1.0
UNBOUNDED
[ UNBOUNDED, 1 ]
SELF
HOST
~
'
"
{
]
.
{ get_input: x }
{ get_property: [ SELF, x ] }
{ get_attribute: [ HOST, x, 0 ] }
{ concat: [] }
{ join: [ [] ] }
{ token: [ a, b, 9 ] }
{ get_artifact: [ SELF, a ] }
{ equal: { get_input: x } }
[ [ [] ] ]
{ a: { b: [ c ] } }
&a [ *a ]
*a
<<: {}
!!binary x
? [ x ]
"\0"
|
profile:ordito
tosca_simple_yaml_1_3
tosca:Compute
x:y
http://a/b
../../../../../../../../../../../../../etc/passwd""".splitlines(),
    *("", "\t", "\u2028", "\ufeff", "9" * 400),
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A service template, broken in a few places."""
    lines = draw(st.sampled_from(TEXTS)).splitlines()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        value = draw(st.sampled_from(NASTY) | st.sampled_from(WORDS))
        match draw(st.integers(0, 6)):
            case 0:
                lines[at] = ""
            case 1:
                lines.insert(at, draw(st.sampled_from(lines)))
            case 2:
                lines[at] = line.partition(":")[0] + ": " + value
            case 3:
                lines[at] = " " * draw(st.integers(0, 12)) + line.lstrip()
            case 4:
                position = draw(st.integers(0, len(line)))
                lines[at] = line[:position] + value + line[position:]
            case 5:
                found = re.findall(r"[\w.]+", line) or ["x"]
                lines[at] = line.replace(draw(st.sampled_from(found)), value, 1)
            case _:
                begin, end = sorted((draw(st.integers(0, len(line))), draw(st.integers(0, len(line)))))
                lines[at] = line[:begin] + line[end:]
    return "\n".join(lines)


def resolved(folder: Path, data: bytes) -> tuple[Service | None, Diagnostics]:
    """The service of a document that stands in a folder, and what was found."""
    main = folder / "fuzzed.yaml"
    main.write_bytes(data)
    diagnostics = Diagnostics()
    package = open_package(str(main), diagnostics)
    assert package is not None
    return resolve_service(package, diagnostics), diagnostics


def check(folder: Path, data: bytes) -> None:
    """The document gives a service or errors, and every place lies inside of its file."""
    service, diagnostics = resolved(folder, data)
    assert (service is None) == diagnostics.has_errors
    for found in diagnostics:
        for span in (found.span, *(r.span for r in found.related)):
            if span is not None:
                assert 1 <= span.line <= max(len(span.source.lines), 1)
                assert 1 <= span.column <= len(span.source.line(span.line)) + 1
    if service is not None:
        bind_inputs(service, dict.fromkeys(service.inputs, "1"), Diagnostics())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the documents import."""
    made = tmp_path_factory.mktemp("fuzzed")
    shutil.copy(SHOP / "types.yaml", made)
    shutil.copytree(DATA / "imports" / "nested", made / "nested")
    shutil.copytree(DATA / "imports" / "faults", made / "faults")
    return made


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=mutated())
def test_mutated_documents(folder: Path, text: str) -> None:
    """Mistakes of all kinds give diagnostics, in every room that reads the document."""
    check(folder, text.encode())


HEAD = b"tosca_definitions_version: tosca_simple_yaml_1_3\n"


@settings(max_examples=examples(25), deadline=None)
@given(data=st.binary(max_size=80), headed=st.booleans())
@example(data=b"imports: ['../../../../../../../../dev/zero', '\\0', ./fuzzed.yaml]", headed=True)
@example(data=b"topology_template: {node_templates: {'': {type: Root}}}", headed=True)
def test_any_bytes(folder: Path, data: bytes, headed: bool) -> None:
    """Any bytes give a service or diagnostics."""
    check(folder, HEAD + data if headed else data)
