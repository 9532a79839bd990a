"""Canary secrets, through every function, sink and way to fail: no file, no terminal and no command line shows them."""

from __future__ import annotations

import base64
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from ordito.base.masking import LEAST
from tests.acceptance.program import LIMIT, Finished, environment, ordito, start
from tests.support.forked import IMPATIENT
from tests.support.spellings import spellings

pytest.importorskip("cryptography", reason="what is sensitive cannot be sealed without it")

KINDS = ("literal", "login", "token", "given", "kept", "made", "whole", "typed", "inner")
CANARIES = {kind: f"cAn'ary {kind} 47&11" for kind in KINDS}

TYPES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  my.Login:
    properties: { user: { type: string }, pw: { type: string, metadata: { sensitive: true } } }
  my.Secret: { derived_from: string, metadata: { sensitive: true } }
node_types:
  my.Db:
    derived_from: tosca.nodes.Root
    properties:
      password: { type: string, metadata: { sensitive: true } }
      login: { type: my.Login }
      cred: { type: Credential }
      typed: { type: my.Secret }
      list: { type: list, entry_schema: my.Login }
    attributes:
      made: { type: string, metadata: { sensitive: true } }
      url: { type: string }
      port: { type: integer }
"""

SERVICE = """\
imports: [ types.yaml ]
topology_template:
  inputs:
    given: { type: string, metadata: { sensitive: true } }
    kept: { type: string }
  node_templates:
    db:
      type: my.Db
      properties:
        password: { get_input: [ given ] }
        login: { user: me, pw: { concat: [ { get_input: kept } ] } }
        cred: { token: { token: [ { concat: [ "a#", { get_input: given }, "#b" ] }, "#", 1 ] } }
        typed: { join: [ [ { get_input: kept }, { get_input: given } ], "+" ] }
        list: [ { user: you, pw: { get_input: kept } } ]
      interfaces:
        Standard:
          operations:
            create:
              implementation: create.sh
              inputs:
                pw: { get_property: [ SELF, password ] }
                login: { get_property: [ SELF, login ] }
                token: { get_property: [ SELF, cred, token ] }
                both: { concat: [ "x-", { get_input: kept }, "-y" ] }
                typed: { get_property: [ SELF, typed ] }
                second: { get_property: [ SELF, list, 0, pw ] }
              outputs: { MADE: [ SELF, made ], URL: [ SELF, url ] }
            start: { implementation: start.sh, inputs: { URL: { get_attribute: [ SELF, url ] } } }
    web:
      type: tosca.nodes.Root
      requirements: [ dependency: db ]
      interfaces:
        Standard:
          operations:
            create:
              implementation: web.py
              inputs:
                made: { get_attribute: [ db, made ] }
                out: { get_operation_output: [ db, Standard, create, URL ] }
  outputs:
    made: { value: { get_attribute: [ db, made ] } }
    url: { value: { get_attribute: [ db, url ] } }
    user: { value: { get_property: [ db, login, user ] } }
    login: { value: { get_property: [ db, login ] } }
    joined: { value: { concat: [ "p=", { get_property: [ db, password ] } ] } }
"""

CREATE = """\
set -x
echo "$pw | $login | $token | $both | $typed | $second"
printf '%s' "$pw" | base64 -w0; echo
printf 'user:%s' "$pw" | base64; printf 'z%s' "$pw" | base64
printf '%s' "$pw" | od -An -tx1 | tr -d ' \\n'; echo
printf '%q\\n' "$pw"
printf '%s' "${pw:0:5}"; sleep 0.05; printf '%s\\n' "${pw:5}"
printf '%s\\n%s\\n' "${pw:0:7}" "${pw:7}"
MADE="cAn'ary m"; MADE="${MADE}ade 47&11"
echo "made $MADE"
URL="http://u:$pw@host"
env | sort
"""

WEB = """\
import json, os, urllib.parse
print(json.dumps({"m": os.environ["made"], "o": os.environ["out"]}))
print(urllib.parse.quote(os.environ["made"]), os.environ["made"].encode().hex().upper())
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A service, and an ensemble that keeps a secret for it."""
    (tmp_path / "types.yaml").write_text(TYPES)
    (tmp_path / "service.yaml").write_text(f"tosca_definitions_version: tosca_simple_yaml_1_3\n{SERVICE}")
    (tmp_path / "create.sh").write_text(CREATE)
    (tmp_path / "start.sh").write_text('echo "start with $URL"\n')
    (tmp_path / "web.py").write_text(WEB)
    (tmp_path / "value").write_text(CANARIES["kept"])
    done = ordito(tmp_path, "secrets", "set", "kept", "--file", "value", "-e", "ensemble")
    assert done.code == 0, done.both
    (tmp_path / "value").unlink()
    (tmp_path / "given.yaml").write_text(f'given: "{CANARIES["given"]}"\n')
    (tmp_path / "ensemble" / "ensemble.yaml").write_text(
        "spec:\n  service: ../service.yaml\n  inputs: { kept: { secret: kept } }\n"
    )
    return tmp_path


def deploy(place: Path, *more: str) -> Finished:
    return ordito(place, "deploy", "-e", "ensemble", "--yes", "-I", "given.yaml", *more)


def found_in(data: bytes) -> Iterator[str]:
    """The canaries in bytes, in any encoding, also over ends of lines."""
    joined = re.sub(rb"\r?\n", b"", data)
    for kind, canary in CANARIES.items():
        for form in spellings(canary):
            if len(form) >= 2 * LEAST and (form in data or form in joined):
                yield f"{kind} as {form!r}"


def leaks(folder: Path, *, sources: tuple[str, ...] = ("given.yaml",)) -> list[str]:
    """Where canaries are in the files of a folder and of all repositories in it; the user's own sources left out."""
    found: list[str] = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.name not in sources:
            data = path.read_bytes()
            if "objects" in path.parts:
                data = zlib.decompress(data) if data[:1] == b"x" else data
            found += [f"{path}: {what}" for what in found_in(data)]
    return found


def shows(done: Finished) -> list[str]:
    return list(found_in(done.both.encode()))


LOOKING = [
    ("plan",),
    ("plan", "-o", "json"),
    ("plan", "--explain"),
    ("status",),
    ("status", "-o", "json"),
    ("status", "-o", "yaml"),
    ("describe", "db"),
    ("describe", "db_1"),
    ("describe", "db_1", "-o", "json"),
    ("state", "show", "db_1"),
    ("state", "export"),
    ("jobs", "events"),
    ("jobs", "events", "--json"),
    ("output",),
    ("output", "login"),
    ("output", "-o", "json"),
    ("output", "--json"),
    ("spec",),
    ("spec", "-o", "json"),
    ("jobs", "show"),
    ("jobs", "show", "-o", "json"),
    ("jobs", "logs"),
    ("jobs", "list"),
    ("jobs", "replay"),
    ("secrets", "list"),
]


def test_a_deployment_shows_no_secret_anywhere(place: Path) -> None:
    """R-5.3.6-2: what is sensitive is masked in logs and records, whichever way it takes."""
    subprocess.run(["git", "init", "-q", "ensemble"], cwd=place, check=True)
    done = deploy(place)
    assert done.code == 0, done.both
    assert not shows(done)
    assert not leaks(place)
    log = b"".join(path.read_bytes() for path in (place / "ensemble" / ".ordito" / "logs").glob("*.log")).decode()
    assert log.count("(sensitive)") > 12
    assert "start with (sensitive)" in log
    assert "made (sensitive)" in log, "also what the operation has made itself"
    for words in LOOKING:
        looked = ordito(place, *words, "-e", "ensemble")
        assert looked.code in {0, 2}, (words, looked.both)
        assert not shows(looked), words
    assert ordito(place, "output", "-e", "ensemble", "user").out == "me\n"
    assert ordito(place, "output", "-e", "ensemble", "login").out == '{"user":"me","pw":"(sensitive)"}\n'
    assert ordito(place, "output", "-e", "ensemble", "made", "--reveal").out == f"{CANARIES['made']}\n"
    assert ordito(place, "secrets", "get", "-e", "ensemble", "kept").out == f"{CANARIES['kept']}\n"
    subprocess.run(["git", "add", "-A"], cwd=place / "ensemble", check=True)
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all", "--allow-empty"],
        cwd=place / "ensemble",
        check=True,
    )
    assert not leaks(place / "ensemble")
    tracked = subprocess.run(["git", "ls-files"], cwd=place / "ensemble", capture_output=True, text=True, check=True)
    assert "secrets.yaml" in tracked.stdout
    assert ".ordito" not in tracked.stdout
    again = deploy(place)
    assert "Nothing to do" in again.both, "the same secrets are no change"
    gone = ordito(place, "undeploy", "-e", "ensemble", "--yes")
    assert gone.code == 0, gone.both
    assert not shows(gone)
    assert not leaks(place)


@pytest.mark.parametrize("form", ["--json", "-v"])
def test_events_show_no_secret(place: Path, form: str) -> None:
    done = deploy(place, form)
    assert done.code == 0, done.both
    assert "(sensitive)" in done.both
    assert not shows(done)


FAILURES = {
    "exit": ('echo "$pw" >&2; exit 3', 1),
    "timeout": ('echo "$pw"; sleep 60', 1),
    "wrong type": ('URL="$pw"; MADE=[; PORT="$pw"', 1),
    "missing output": ('echo "$pw"; URL=x', 1),
    "killed": ('echo "$pw"; kill -9 $$', 1),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failing_operation_shows_no_secret(place: Path, name: str) -> None:
    script, code = FAILURES[name]
    (place / "create.sh").write_text(f"{script}\n")
    text = (place / "service.yaml").read_text()
    if name == "timeout":
        text = text.replace("implementation: create.sh", "implementation: { primary: create.sh, timeout: 1 }")
    if name == "wrong type":
        text = text.replace("URL: [ SELF, url ] }", "URL: [ SELF, url ], PORT: [ SELF, port ] }")
    (place / "service.yaml").write_text(text)
    done = deploy(place)
    assert done.code == code, done.both
    assert not shows(done)
    assert not leaks(place)
    assert not shows(ordito(place, "jobs", "show", "-e", "ensemble", "-o", "json"))


def test_a_value_that_is_refused_is_not_shown(place: Path) -> None:
    types = (place / "types.yaml").read_text()
    (place / "types.yaml").write_text(
        types.replace(
            "password: { type: string, metadata",
            "password: { type: string, constraints: [ max_length: 3 ], metadata",
        )
    )
    done = deploy(place)
    assert done.code == 3, done.both
    assert not shows(done)
    (place / "types.yaml").write_text(types)
    text = (place / "service.yaml").read_text()
    (place / "service.yaml").write_text(
        text.replace("{ get_input: [ given ] }", f'[ "{CANARIES["literal"]}" ]').replace(
            "typed: { join", f'typed: {{ wrong: "{CANARIES["whole"]}" }}\n        other: {{ join'
        )
    )
    for form in ("text", "json", "github", "sarif"):
        done = ordito(place, "validate", "service.yaml", "-o", form)
        assert done.code == 3, done.both
        assert "not shown" in done.both
        assert not shows(done)


def test_a_fault_of_the_program_shows_no_secret(place: Path) -> None:
    """What is written about a fault of the program itself holds no secret."""
    broken = (
        "from ordito.operations.operations import PlanOperations\n"
        "def prepare(self, step, attempt):\n"
        "    raise ValueError(self._evaluator.inputs['given'].reveal())\n"
        "PlanOperations.prepare = prepare\n"
    )
    done = ordito(place, "deploy", "-e", "ensemble", "--yes", "-I", "given.yaml", code=broken)
    assert done.code == 70, done.both
    assert "(sensitive)" in done.both
    assert not shows(done)
    assert not leaks(place)


def test_processes_see_only_what_is_given_to_them(place: Path) -> None:
    """No command line holds a secret, and no environment but that of the operation that it was given to."""
    (place / "create.sh").write_text(
        "tr '\\0' '\\n' </proc/$$/cmdline >cmdline; for p in $PPID $$; do tr '\\0' ' ' </proc/$p/cmdline; done >&2\n"
        'MADE=x; URL=y\n: >"$HOME/created"; while [ -e "$HOME/created" ]; do sleep 0.1; done\n'
    )
    process = start(place, "deploy", "-e", "ensemble", "--yes", "-I", "given.yaml")
    deadline = time.monotonic() + LIMIT
    while not (place / "created").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    with_secret = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line, variables = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
            except OSError:
                continue
            assert not list(found_in(line.replace(b"\0", b" "))), line
            if list(found_in(variables)):
                with_secret.append(variables)
    assert with_secret
    assert all(b"ORDITO_STEP=db_1.Standard.create" in variables for variables in with_secret)
    (place / "created").unlink()
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    assert not list(found_in((out + err).encode()))


def test_a_killed_job_goes_on_with_its_secrets(place: Path) -> None:
    """SIGKILL while an operation runs that prints them: nothing is written in clear, and resume knows them again."""
    create = (place / "create.sh").read_text()
    (place / "create.sh").write_text(
        'echo "before $pw"\nif [ ! -e "$HOME/go" ]; then : >"$HOME/waits"; while sleep 0.05; do :; done; fi\n' + create
    )
    process = start(place, "deploy", "-e", "ensemble", "--yes", "-I", "given.yaml")
    deadline = time.monotonic() + LIMIT
    while not (place / "waits").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    (place / "go").touch()
    assert not leaks(place)
    resumed = ordito(place, "jobs", "resume", "-e", "ensemble", code=IMPATIENT)
    assert resumed.code == 0, resumed.both
    assert not shows(resumed)
    assert not leaks(place)
    assert ordito(place, "output", "-e", "ensemble", "made", "--reveal").out == f"{CANARIES['made']}\n"


def test_a_clone_without_the_key(place: Path) -> None:
    """It can be looked at; what needs a secret says how to bring the key; with it, all is as it was."""
    assert deploy(place).code == 0
    key = place / "ensemble" / ".ordito" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    key.rename(place / "brought")
    (place / "ensemble" / ".ordito" / "journal.db").unlink()
    looked = ordito(place, "status", "-e", "ensemble")
    assert looked.code == 0, looked.both
    assert ordito(place, "output", "-e", "ensemble", "login").out == '{"user":"me","pw":"(sensitive)"}\n'
    refused = ordito(place, "output", "-e", "ensemble", "made", "--reveal")
    assert refused.code != 0
    assert "ORDITO_KEY_FILE" in refused.both
    assert ordito(place, "deploy", "-e", "ensemble", "--yes").code == 3
    key.write_text("ordito-key-1:" + base64.b64encode(bytes(64)).decode() + "\n")
    other = ordito(place, "output", "-e", "ensemble", "made", "--reveal")
    assert "holds the key" in other.both
    (place / "brought").rename(key)
    again = deploy(place)
    assert "Nothing to do" in again.both


def test_a_changed_secret_is_a_change(place: Path) -> None:
    assert deploy(place).code == 0
    (place / "value").write_text("cAn'ary other 47&11")
    assert ordito(place, "secrets", "set", "kept", "--file", "value", "-e", "ensemble").code == 0
    planned = ordito(place, "plan", "-e", "ensemble", "-I", "given.yaml")
    assert "Nothing to do" not in planned.both
    assert "other 47" not in planned.both


def test_what_the_database_holds(place: Path) -> None:
    """The journal's rows hold sealed values: not even its write-ahead log has anything else."""
    assert deploy(place).code == 0
    rows = sqlite3.connect(place / "ensemble" / ".ordito" / "journal.db").execute("SELECT value FROM attribute")
    assert any(b"v1:" in value for (value,) in rows)
    assert shlex.quote(CANARIES["given"]) != quote(CANARIES["given"])


DYING = """\
import os, resource, sys
hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
if len(sys.argv) == 1:
    os.abort()
from ordito.cli.main import main
from ordito.operations.operations import PlanOperations
def prepare(self, step, attempt):
    assert self._evaluator.inputs['given'].reveal()
    os.abort()
PlanOperations.prepare = prepare
main()
"""


def test_a_process_that_dies_leaves_no_dump_of_its_memory(place: Path) -> None:
    """What holds secrets in its memory leaves none of them in a file of the system."""

    def leaves_a_dump(*arguments: str) -> bool:
        process = subprocess.Popen([sys.executable, "-c", DYING, *arguments], cwd=place, env=environment(place))
        status = os.waitpid(process.pid, 0)[1]
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == -signal.SIGABRT
        return os.WCOREDUMP(status)

    if not leaves_a_dump():
        pytest.skip("this machine keeps no dumps of memory")
    for dump in place.glob("core*"):
        dump.unlink()
    assert not leaves_a_dump("deploy", "-e", "ensemble", "--yes", "-I", "given.yaml")
    assert not leaks(place)
