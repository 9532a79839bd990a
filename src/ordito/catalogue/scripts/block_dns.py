"""Records of DNS, changed by dynamic updates (RFC 2136) with ``nsupdate``, and read from the same server with ``dig``.

Both get the key (TSIG) in a file that only their user can read. One change is one update: a server makes all of it or
nothing.
"""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import ordito_block as block

TYPES = ("A", "AAAA", "CNAME", "TXT")
ALGORITHMS = ("hmac-md5", "hmac-sha1", "hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512")
_NAME = re.compile(r"(?=.{1,254}$)(\*\.)?[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
_SECRET = re.compile(r"[A-Za-z0-9+/]+=*")
_STATUS = re.compile(r"status: ([A-Z]+)")


@dataclass(frozen=True)
class Records:
    """All records of one name and type; none where ``values`` is empty. ``ttl`` is in seconds."""

    values: tuple[str, ...]
    ttl: int

    def plain(self) -> dict[str, object]:
        """As outputs hold them."""
        return {"values": list(self.values), "ttl": self.ttl}


def of_plain(value: object) -> Records:
    """Records as outputs hold them."""
    if not isinstance(value, dict) or not isinstance(value.get("values"), list):
        raise block.Failed("the record does not say what was there before")
    return Records(tuple(map(str, value["values"])), int(value.get("ttl") or 0))


@dataclass(frozen=True)
class Zone:
    """A server and what it lets us do: ``name`` has records of ``type``."""

    server: str
    port: int
    zone: str
    name: str
    type: str
    patience: float

    def now(self) -> Records:
        """What the server says now. Raises ``Failed``."""
        with _key() as key:
            words = [
                f"@{self.server}",
                "-p",
                str(self.port),
                *key,
                f"+time={_whole(self.patience)}",
                "+tries=1",
                "+tcp",
            ]
            words += ["+norecurse", "+noall", "+answer", "+comments", "-q", self.name, "-t", self.type]
            said = self._call("dig", words)
        status = _STATUS.search(said)
        if status is None or status[1] not in ("NOERROR", "NXDOMAIN"):
            raise block.Failed(
                f"{self.server} does not say what {self.name} is: {status[1] if status else said.strip()}"
            )
        rows = [line.split(None, 4) for line in said.splitlines() if line and not line.startswith(";")]
        found = [row for row in rows if len(row) == 5 and row[3] == self.type and row[0].lower() == self.name.lower()]
        return Records(tuple(sorted(row[4] for row in found)), int(found[0][1]) if found else 0)

    def change(self, expected: Records | None, wanted: Records) -> None:
        """Make the records what is wanted, where they are what is expected (None: whatever they are). Raises
        ``Failed``."""
        lines = [f"server {self.server} {self.port}", *([f"zone {self.zone}"] if self.zone else [])]
        if expected is not None and expected.values:
            lines += [f"prereq yxrrset {self.name} IN {self.type} {value}" for value in expected.values]
        elif expected is not None:
            lines.append(f"prereq nxrrset {self.name} IN {self.type}")
        lines.append(f"update delete {self.name} {self.type}")
        lines += [f"update add {self.name} {wanted.ttl} IN {self.type} {value}" for value in wanted.values]
        with _key() as key:
            self._call("nsupdate", ["-v", "-t", str(_whole(self.patience)), *key], "\n".join([*lines, "send\n"]))

    def _call(self, program: str, words: Sequence[str], text: str = "") -> str:
        found = shutil.which(program)
        if found is None:
            raise block.Failed(
                f"there is no {program}, by which this block speaks with servers of DNS, where Ordito runs",
                "install it (Debian, Ubuntu: apt install bind9-dnsutils)",
            )
        own = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        done = subprocess.run([found, *words], input=text, env=own, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = " ".join((done.stderr.strip() or done.stdout.strip()).split())
            raise block.Failed(f"{self.server}, port {self.port}, has not done it: {said}", _hint(said))
        return done.stdout


def _whole(seconds: float) -> int:
    """Whole seconds, which are all that these programs know."""
    return max(1, round(seconds))


def _hint(said: str) -> str:
    if any(word in said for word in ("NOTAUTH", "BADKEY", "BADSIG", "REFUSED", "expected a TSIG")):
        return "see whether server, zone, key and secret belong together, and whether the key may change this name"
    if "NXRRSET" in said or "YXRRSET" in said:
        return "somebody else has changed it at the same time: run the step again"
    return ""


@contextmanager
def _key() -> Iterator[list[str]]:
    """The words that name the key of the config to a program; none where there is none."""
    name, secret = block.text("key", ""), block.text("secret", "")
    if not name and not secret:
        yield []
        return
    algorithm = block.text("algorithm", "hmac-sha256")
    if not _NAME.fullmatch(name):
        raise block.misconfigured("key", "a secret needs the name of its key")
    if not _SECRET.fullmatch(secret):
        raise block.misconfigured("secret", "it is not written in Base64")
    if algorithm not in ALGORITHMS:
        raise block.misconfigured("algorithm", f"{algorithm} is not known", f"known: {', '.join(ALGORITHMS)}")
    handle, place = tempfile.mkstemp(prefix="ordito-key-")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(f'key "{name}" {{\n  algorithm {algorithm};\n  secret "{secret}";\n}};\n')
        yield ["-k", place]
    finally:
        Path(place).unlink(missing_ok=True)


def zone() -> Zone:
    """The zone that the config names, checked. Raises ``Failed``."""
    kind = block.text("type", "A")
    if kind not in TYPES:
        raise block.misconfigured("type", f"{kind} is not known", f"known: {', '.join(TYPES)}")
    name, within, server = block.text("name"), block.text("zone", ""), block.text("server")
    for key, written in (("name", name), *((("zone", within),) if within else ())):
        if not _NAME.fullmatch(written):
            raise block.misconfigured(key, f"{written!r} is no name")
    if not _NAME.fullmatch(server) and not _is_address(server):
        raise block.misconfigured("server", f"{server!r} is neither a name nor an address")
    return Zone(server, block.number("port", 53), within, f"{name.rstrip('.')}.", kind, block.seconds("each", 10))


def wanted(kind: str) -> Records:
    """The records of the config, as servers write them. Raises ``Failed``."""
    values = block.texts("values")
    if not values:
        raise block.misconfigured("values", "it holds nothing", "to remove a name there is the block Deregister")
    return Records(tuple(sorted({_written(kind, value) for value in values})), block.number("ttl", 300))


def _written(kind: str, value: str) -> str:
    if kind in ("A", "AAAA"):
        try:
            found = ipaddress.ip_address(value)
        except ValueError:
            found = None
        if found is None or found.version != (4 if kind == "A" else 6):
            raise block.misconfigured("values", f"{value!r} is no address of IP version {4 if kind == 'A' else 6}")
        return str(found)
    if kind == "CNAME":
        if not _NAME.fullmatch(value):
            raise block.misconfigured("values", f"{value!r} is no name")
        return f"{value.rstrip('.')}."
    if len(value.encode()) > 255 or not value.isprintable() or not value.isascii():
        raise block.misconfigured("values", "a text of DNS is at most 255 printable ASCII characters")
    return '"{}"'.format(value.replace("\\", "\\\\").replace('"', '\\"'))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def go_back(outputs: block.Outputs) -> block.Outputs:
    """Make a name what it was before an execution, where it is still what that made of it. Raises ``Failed``."""
    place, before, made = zone(), of_plain(outputs.get("before")), of_plain(outputs.get("made"))
    now = place.now()
    if now.values == made.values and now.values != before.values:
        place.change(made, before)
    elif now.values != before.values:
        raise block.Failed(
            f"{place.name} {place.type} was left alone: somebody else has made it {', '.join(now.values) or 'nothing'}"
        )
    block.say(f"{place.name} {place.type}: {', '.join(before.values) or 'not registered'} again")
    return {}
