"""A server of DNS (BIND's ``named``) on loopback, with one zone that takes updates that are signed."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType

from tests.support.real.needs import need, program

ZONE = "shop.test"
KEY = "ordito"
SECRET = "b3Blbi1zZXNhbWUtb3Blbi1zZXNhbWUtb3Blbi1zZXM="


class Bind:
    """A server; ``config`` is what blocks need to know of it."""

    def __init__(self, folder: Path) -> None:
        need("bind", "named", "nsupdate", "dig")
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.config: dict[str, object] = {"server": "127.0.0.1", "port": self.port, "key": KEY, "secret": SECRET}

    def __enter__(self) -> Bind:
        folder = self._folder
        (folder / "zone").write_text(
            f"$TTL 60\n@ IN SOA ns.{ZONE}. admin.{ZONE}. 1 60 60 60 60\n@ IN NS ns.{ZONE}.\nns IN A 127.0.0.1\n"
        )
        (folder / "named.conf").write_text(
            f'key "{KEY}" {{ algorithm hmac-sha256; secret "{SECRET}"; }};\n'
            "controls { };\n"
            f'options {{ directory "{folder}"; pid-file none; session-keyfile none; recursion no; '
            f"listen-on port {self.port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; notify no; "
            "dnssec-validation no; };\n"
            f'zone "{ZONE}" {{ type primary; file "zone"; allow-update {{ key "{KEY}"; }}; }};\n'
        )
        with (folder / "log").open("wb") as log:
            words = [str(program("named")), "-g", "-n", "1", "-c", str(folder / "named.conf")]
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        while "running" not in (said := (folder / "log").read_text()):
            assert self._process.poll() is None, said
            time.sleep(0.01)
        return self

    def ask(self, name: str, kind: str = "A") -> list[str]:
        """What it says a name is."""
        words = [str(program("dig")), "@127.0.0.1", "-p", str(self.port), "+short", "+norecurse", "+tcp", name, kind]
        return sorted(subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self._process.wait()
