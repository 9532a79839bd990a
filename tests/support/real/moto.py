"""Moto's server for tests: an emulator of EC2 on loopback, as a process of its own that ends with the tests."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType

from tests.support.real.needs import lacking

# It serves from a thread and ends when its standard input does, however the tests come to end.
SERVER = """\
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(*server.get_host_and_port(), flush=True)
sys.stdin.read()
"""


class Moto:
    """The emulator. ``endpoint`` is its address; it takes any credentials, so those it proposes are none."""

    key = "test-key"
    secret = "test-secret"
    region = "us-east-1"

    def __init__(self, folder: Path) -> None:
        if importlib.util.find_spec("moto") is None:
            lacking("moto", "the package moto is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "moto.log").open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SERVER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=folder,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        said = self._process.stdout.readline().split()
        assert len(said) == 2, (folder / "moto.log").read_text()
        self.host, self.port = said[0], int(said[1])

    @property
    def endpoint(self) -> str:
        """Where the emulator is asked."""
        return f"http://{self.host}:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What tools of that cloud read their credentials and region from."""
        return {
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def reset(self) -> None:
        """Let it forget everything."""
        request = urllib.request.Request(f"{self.endpoint}/moto-api/reset", method="POST")
        with urllib.request.urlopen(request, timeout=30):
            pass

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Moto:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()
