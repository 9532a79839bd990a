"""Documents that nobody wrote: made from those of the tests, by mutating bytes, lines and structures."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from ordito.base.diagnostics import Diagnostics
from ordito.model.inputs import bind_inputs
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("examples", "tests/model/data", "tests/conformance", "tests/corpus")
MOST_BYTES = 64_000
NAME = re.compile(r"[A-Za-z_][\w.:-]*")
VALUES = [
    *r"""[]
{}
~
[ ~ ]
{ ~: ~ }
0
-1
1e999
.nan
1_000
0x1F
[ UNBOUNDED, 1 ]
[ 5, 1 ]
10 GB
1e400 TB
SELF
HOST
[ SELF, SELF, SELF ]
'
"
{
]
&a [ *a ]
&b { <<: *b }
*nowhere
<<: {}
!!binary x
? [ x ]
- - - x
|
>
"\0"
%YAML 9.9
profile:ordito
tosca_simple_yaml_1_3
tosca:Compute
http://a.invalid/b
../../../../../../etc/passwd
/dev/zero
{ get_input: x }
{ get_property: [ SELF, x ] }
{ get_attribute: [ HOST, x, 0 ] }
{ concat: [] }
{ join: [ [], [] ] }
{ token: [ a, b, 999999999999999999999 ] }
{ get_artifact: [ SELF, a, b, c, d ] }
{ pattern: "(a*)*b" }
{ in_range: [ x, y ] }
{ schema: "{" }
2026-13-45T99:99:99Z
99999999999.99999999.99999999999""".splitlines(),
    *("", "\t", "\u2028", "\ufeff", "\x85", "9" * 500, "a" * 5000, "[" * 200, "{ a: " * 150, "- " * 150),
]
BYTES = (b"\xff", b"\xfe\xff", b"\x00", b"\xef\xbb\xbf", b"\r", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b")


@cache
def documents() -> tuple[Path, ...]:
    """The documents of examples and tests."""
    return tuple(sorted(p for place in PLACES for p in (ROOT / place).rglob("*.yaml")))


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def strange(random: Random) -> tuple[Path, bytes]:
    """A strange document, and the document that it was made from, whose neighbours it may import."""
    origin = random.choice(documents())
    lines = _text(origin).split("\n")
    for _ in range(random.randint(1, 5)):
        random.choice(MUTATIONS)(lines, random)
        if sum(map(len, lines)) > MOST_BYTES:
            break
    data = "\n".join(lines).encode("utf-8", errors="surrogatepass")[:MOST_BYTES]
    for _ in range(random.choice((0, 0, 0, 1, 4))):
        data = _damaged(data, random)
    return origin, data


def check(folder: Path, origin: Path, data: bytes) -> None:
    """Reading a document gives a service or errors, and every place lies inside of its file. ``folder`` is empty."""
    if origin.name == "main.yaml":
        shutil.copytree(origin.parent, folder, dirs_exist_ok=True)
    main = folder / "main.yaml"
    main.write_bytes(data)
    diagnostics = Diagnostics()
    package = open_package(str(main), diagnostics)
    assert package is not None
    service = resolve_service(package, diagnostics)
    assert (service is None) == diagnostics.has_errors
    for found in diagnostics:
        for span in (found.span, *(r.span for r in found.related)):
            if span is not None:
                assert 1 <= span.line <= max(len(span.source.lines), 1), found
                assert 1 <= span.column <= len(span.source.line(span.line)) + 1, found
    if service is not None:
        bind_inputs(service, dict.fromkeys(service.inputs, "1"), Diagnostics())


# ------------------------------------------------------------------------------------------------------- mutations


def _damaged(data: bytes, random: Random) -> bytes:
    """Bytes that are missing, doubled, changed or put in; or all of them in another encoding."""
    at = random.randint(0, len(data))
    to = min(len(data), at + random.choice((1, 2, 40, 1000)))
    match random.randint(0, 6):
        case 0:
            return data[:at] + data[to:]
        case 1:
            return data[:at] + random.choice(BYTES) + data[at:]
        case 2:
            return data[:at] + bytes([random.randint(0, 255)]) + data[at + 1 :]
        case 3:
            return data[:to] + data[at:]
        case 4:
            return data[:at]
        case 5:
            return data.decode("utf-8", errors="replace").encode(
                random.choice(("utf-16", "utf-32", "utf-8-sig", "latin-1")), errors="replace"
            )
        case _:
            return data.replace(b"\n", random.choice((b"\r\n", b"\r", b"\n\n")))


def _line(lines: list[str], random: Random) -> int:
    return random.randrange(len(lines))


def _block(lines: list[str], random: Random) -> tuple[int, int]:
    """A line with those below it that are indented deeper."""
    start = _line(lines, random)
    depth = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > depth):
        end += 1
    return start, end


def _remove(lines: list[str], random: Random) -> None:
    start, end = _block(lines, random)
    lines[start:end] = [] if end - start < len(lines) else ["x"]


def _double(lines: list[str], random: Random) -> None:
    start, end = _block(lines, random)
    lines[end:end] = lines[start:end]


def _move(lines: list[str], random: Random) -> None:
    start, end = _block(lines, random)
    moved = lines[start:end]
    del lines[start:end]
    at = random.randint(0, len(lines))
    shift = random.choice((-4, -2, 0, 0, 2, 4))
    lines[at:at] = [" " * shift + m if shift > 0 else m[-shift:] if m[:-shift].isspace() else m for m in moved]


def _indent(lines: list[str], random: Random) -> None:
    at = _line(lines, random)
    lines[at] = " " * random.randint(0, 14) + lines[at].lstrip()


def _value(lines: list[str], random: Random) -> None:
    at = _line(lines, random)
    lines[at] = lines[at].partition(":")[0] + ": " + random.choice(VALUES)


def _insert(lines: list[str], random: Random) -> None:
    at = _line(lines, random)
    position = random.randint(0, len(lines[at]))
    lines[at] = lines[at][:position] + random.choice(VALUES) + lines[at][position:]


def _swap(lines: list[str], random: Random) -> None:
    """Exchange what stands behind the colons of two lines."""
    one, two = _line(lines, random), _line(lines, random)
    left, right = lines[one].partition(":"), lines[two].partition(":")
    lines[one], lines[two] = left[0] + left[1] + right[2], right[0] + right[1] + left[2]


def _rename(lines: list[str], random: Random) -> None:
    """Put one name of the document in the place of another: types, copies, hosts and values come to lead in circles."""
    names = NAME.findall(lines[_line(lines, random)]) or ["x"]
    at = _line(lines, random)
    found = NAME.findall(lines[at])
    if found:
        lines[at] = lines[at].replace(random.choice(found), random.choice(names), 1)


def _circle(lines: list[str], random: Random) -> None:
    """Name one thing wherever a keyname leads to another, so that it leads to itself."""
    keyname = random.choice(
        ("derived_from", "copy", "host", "node", "node_type", "inline", "type", "on_success", "members")
    )
    name = random.choice(NAME.findall("\n".join(lines)) or ["x"])
    for at, line in enumerate(lines):
        if f"{keyname}:" in line:
            lines[at] = f"{line.partition(f'{keyname}:')[0]}{keyname}: {name}"


def _splice(lines: list[str], random: Random) -> None:
    """A block of another document."""
    other = _text(random.choice(documents())).split("\n")
    start, end = _block(other, random)
    at = random.randint(0, len(lines))
    lines[at:at] = other[start:end]


def _nest(lines: list[str], random: Random) -> None:
    """A value nested deeply."""
    at = _line(lines, random)
    key, _, value = lines[at].partition(":")
    depth = random.choice((3, 50, 99, 101, 5000))
    opened, closed = random.choice((("[ ", " ]"), ("{ a: ", " }"), ("{ concat: [ ", " ] }")))
    lines[at] = f"{key}: {opened * depth}{value.strip() or 'x'}{closed * depth}"


def _import(lines: list[str], random: Random) -> None:
    names = ("main.yaml", "./main.yaml", "profile:ordito", "tosca_simple_yaml_1_2", ".", "scripts", "nothing.yaml")
    lines.append(f"imports: [ {', '.join(random.choices(names, k=3))} ]")


def _bomb(lines: list[str], random: Random) -> None:
    """Aliases of aliases."""
    width, depth = random.choice((2, 9)), random.choice((3, 12, 30))
    made = ["dsl_definitions:", "  a0: &a0 x"]
    made += [f"  a{i}: &a{i} [ {', '.join([f'*a{i - 1}'] * width)} ]" for i in range(1, depth)]
    lines += made
    at = _line(lines, random)
    lines[at] = lines[at].partition(":")[0] + f": *a{depth - 1}"


MUTATIONS: tuple[Callable[[list[str], Random], None], ...] = (
    _remove,
    _double,
    _move,
    _indent,
    _value,
    _value,
    _insert,
    _swap,
    _rename,
    _rename,
    _circle,
    _splice,
    _nest,
    _import,
    _bomb,
)
