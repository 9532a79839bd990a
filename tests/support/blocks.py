"""Blocks run as a step runs them: each as a process that gets its config, and what it is about, in its environment."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from ordito.source.bundled import CATALOGUE

SERVER = Path(__file__).with_name("block_server.py")
DEFINITIONS = CATALOGUE / "blocks.yaml"


@cache
def definitions(place: Path = DEFINITIONS) -> dict[str, Any]:
    """What a file of definitions holds."""
    found = yaml.load(place.read_bytes(), yaml.CSafeLoader)
    assert isinstance(found, dict)
    return found


@cache
def defaults(place: Path, data_type: str) -> dict[str, object]:
    """The defaults of a type of configs, inherited ones too."""
    types = definitions(place)["data_types"]
    if data_type not in types:
        return {}
    properties = types[data_type].get("properties", {})
    own = {name: prop["default"] for name, prop in properties.items() if "default" in prop}
    return {**defaults(place, types[data_type]["derived_from"]), **own}


@dataclass(frozen=True)
class Ran:
    """How a block ended."""

    status: int
    out: str
    err: str
    outputs: dict[str, Any]


@dataclass(frozen=True)
class Block:
    """A block of a catalogue, and the folder in which it finds what is its own: home, scratch files, and context."""

    fqn: str
    folder: Path
    place: Path = DEFINITIONS
    path: str = ""
    about: Mapping[str, str] = field(default_factory=dict)

    def execute(self, config: Mapping[str, object], *, job: str = "J1", **about: str) -> Ran:
        """Carry it out in a job."""
        return self._run("execute", config, self._environment(job, about))

    def start(self, config: Mapping[str, object], *, job: str = "J1") -> subprocess.Popen[bytes]:
        """Begin to carry it out."""
        words, environment = self._command("execute", config, self._environment(job, {}))
        return subprocess.Popen(
            words, env=environment, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def undo(self, config: Mapping[str, object], outputs: Mapping[str, object], *, job: str = "J2") -> Ran:
        """Undo what was carried out with these outputs."""
        record = self.folder / "result.json"
        record.write_text(json.dumps({"config": config, "context": {}, "outputs": outputs}))
        return self._run("undo", config, {**self._environment(job, {}), "ORDITO_EXECUTE_RESULT": str(record)})

    def _environment(self, job: str, about: Mapping[str, str]) -> dict[str, str]:
        context = self.folder / "context.json"
        context.write_text(json.dumps({"module": {"name": "shop"}, "values": {}}))
        return {
            "PATH": self.path or os.environ["PATH"],
            "HOME": str(self.folder),
            "no_proxy": "*",
            "ORDITO_FQN": self.fqn,
            "ORDITO_PHASE": "upgrade.before",
            "ORDITO_COMPONENT": "database",
            "ORDITO_STEP": "step",
            "ORDITO_JOB": job,
            "ORDITO_CONTEXT": str(context),
            **self.about,
            **about,
        }

    def _command(
        self, operation: str, config: Mapping[str, object], environment: dict[str, str]
    ) -> tuple[list[str], dict[str, str]]:
        found = definitions(self.place)["node_types"][self.fqn]["interfaces"]["Block"]["operations"][operation]
        written = found["implementation"] if isinstance(found, dict) else found
        script = written["primary"] if isinstance(written, dict) else written
        policy = definitions(self.place)["policy_types"][self.fqn]
        data_type = policy["properties"]["config"]["type"]
        given = {**defaults(self.place, data_type), **config}
        values = {f"CONFIG_{name}": _plain(value) for name, value in given.items() if value is not None}
        # Without the packages that are installed here: it must not need them.
        words = [sys.executable, "-B", "-S", str(self.place.parent / script)]
        return words, {**environment, **values, "ORDITO_OUTPUTS": str(self.folder / "outputs.json")}

    def _run(self, operation: str, config: Mapping[str, object], environment: dict[str, str]) -> Ran:
        words, variables = self._command(operation, config, environment)
        files = {name: self.folder / f"{name}.txt" for name in ("out", "err")}
        outputs = self.folder / "outputs.json"
        outputs.write_text("")
        asked = {"script": words[-1], "environment": variables, "cwd": str(self.folder)}
        status = server().run({**asked, **{name: str(file) for name, file in files.items()}})
        out, err = (file.read_text() for file in files.values())
        assert "Traceback" not in err, err
        found = outputs.read_text()
        return Ran(status, out, err, json.loads(found) if found else {})


class Server:
    """What runs blocks, each in a process of its own."""

    def __init__(self) -> None:
        # What Python makes of the scripts is kept for the next one, and not beside them.
        self._compiled = tempfile.TemporaryDirectory(prefix="ordito-blocks-")
        words = [sys.executable, "-S", "-X", f"pycache_prefix={self._compiled.name}", str(SERVER)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={})
        atexit.register(self._stop)

    def run(self, asked: Mapping[str, object]) -> int:
        """Run a block, and give its exit status."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def _stop(self) -> None:
        self._process.communicate()
        self._compiled.cleanup()


@cache
def server() -> Server:
    """The one of these tests."""
    return Server()


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
