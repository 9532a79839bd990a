"""The examples of lifecycles as people write them in OPM, carried out with the example of a catalogue."""

from __future__ import annotations

import os
import shutil
import socket
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.acceptance.program import ROOT, status_of
from tests.acceptance.scene import AGAIN, DATA, chain, make_scene, told_by

ADDRESS = f"127.77.{os.getpid() // 250 % 250}.{os.getpid() % 250 + 1}"
"""An address of this machine at which nobody else listens, whatever the port."""
STORES = Path("/var/tmp/ordito-example-stores/backups")


class Answering(BaseHTTPRequestHandler):
    """Answers every request."""

    def do_GET(self) -> None:
        """Say that all is well."""
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def services() -> Iterator[None]:
    """A web server and a listener, at the ports that addresses mean which name none."""
    with ThreadingHTTPServer((ADDRESS, 80), Answering) as web, socket.create_server((ADDRESS, 5432)):
        threading.Thread(target=web.serve_forever, args=(0.05,)).start()
        try:
            yield
        finally:
            web.shutdown()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root listens at port 80")
def test_the_examples_of_opm_run_as_they_are_written(tmp_path: Path) -> None:
    """Components are hosts by their names; nothing in the file says where anything is."""
    scene = make_scene(tmp_path)
    shutil.copy(DATA / "examples.json", scene.service.with_name("lifecycle.json"))
    (tmp_path / "data").write_text("what is kept")
    for name in ("api", "db"):
        scene.order(f"{name}.start", f"private_address={ADDRESS}")
    catalogue = ["--catalog", str(ROOT / "examples" / "catalogue")]

    def written(version: str) -> None:
        database = {"type": "scene.Node", "properties": {"version": version, "data": str(tmp_path / "data")}}
        api = {"type": "scene.Node", "requirements": [{"peer": "db"}, {"peer": "database"}]}
        scene.write(nodes={"database": database, "db": {"type": "scene.Node"}, "api": api}, keep_file=True)

    written("1")
    refused = scene.run("deploy", str(scene.service), "--yes")
    assert refused.code == 3
    assert "there is no block opm.dev/lifecycle/data@v0#Backup" in refused.err
    without = told_by(scene.begin("deploy", str(scene.service), *catalogue))
    assert (without.code, without.story[-1]) == (1, "module/install.after[0]!"), without.err
    assert {"api.start", "database.start", "db.start"} <= {name.rstrip("()") for name in without.story}
    with services():
        told = told_by(scene.begin("deploy", *catalogue))
    assert told.code == 0, told.err
    assert told.story == ["module/install.after[0]", "module/install.after[1]"]
    assert "notification: install.after of the service" in scene.run("jobs", "logs").out

    written("2")
    upgraded = told_by(scene.begin("upgrade", *catalogue))
    assert upgraded.code == 0, upgraded.err
    steps = ["database/upgrade.before[0]", "database/upgrade.before[1]"]
    assert upgraded.story == [*steps, *chain("database", AGAIN)]
    backup = STORES / f"database-{upgraded.end['job']}.tar.gz"
    with tarfile.open(backup) as archive:
        kept = archive.extractfile("data")
        assert kept is not None
        assert kept.read() == b"what is kept"
    backup.unlink()
    assert set(status_of(scene.ensemble)["instances"]) == {"database_1", "db_1", "api_1"}
