"""The command as a process: what it costs to start, terminals, pipes, signals, crashes."""

from __future__ import annotations

import os
import pty
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ordito.ensemble.manifest import MARKER
from tests.cli.program import DATA, LIMIT, command, environment, fresh_process, fresh_start, process, start, until

TINY = DATA / "tiny"
SLOW = DATA / "slow"
FAILING = DATA / "failing"

CPU_LIMIT = 0.060


def test_the_version_costs_at_most_60_ms() -> None:
    """User and system time, the best of seven."""
    costs = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command("--version"), check=True, capture_output=True, env=environment())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert min(costs) <= CPU_LIMIT


@pytest.mark.parametrize("words", [["--help"], ["deploy", "--help"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    program = "import sys; from ordito.cli.main import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, env=environment(), check=True
    )
    loaded = set(done.stderr.split())
    assert not loaded & {"asyncio", "rich", "jinja2", "sqlite3", "ordito.model.resolve"}
    # What is said of a single verb stands in a page of its own, which is YAML.
    assert ("yaml" in loaded) == (words != ["--help"])


def test_planning_loads_nothing_for_extensions_that_nobody_asks_for(tmp_path: Path) -> None:
    program = "import sys; from ordito.cli.main import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    words = ["plan", "deploy", str(TINY), "-e", str(tmp_path / "ensemble")]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, env=environment(), check=True
    )
    loaded = set(done.stderr.split())
    assert "ordito.planning.workflows" in loaded
    assert not loaded & {"importlib.metadata", "email", "zipfile", "jinja2", "ordito.cluster", "psycopg", "dbos"}


def test_a_status_loads_nothing_that_plans(tmp_path: Path) -> None:
    program = "import sys; from ordito.cli.main import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    ensemble = ["-e", str(tmp_path / "ensemble")]
    for words in (["deploy", str(TINY), "--yes", *ensemble], ["status", *ensemble]):
        done = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, env=environment(), check=True
        )
    loaded = set(done.stderr.split())
    assert "ordito.app.status" in loaded
    assert not loaded & {"ordito.planning.workflows", "ordito.app.proposal", "ordito.model.resolve", "asyncio"}


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    assert process(tmp_path, "deploy", FAILING, "-y").code == 1
    with fresh_start(tmp_path, "status") as reading:
        assert reading.stdout is not None
        assert reading.stderr is not None
        reading.stdout.close()
        said = reading.stderr.read()
        assert said.startswith("Next:"), "what to do next is said where nothing is redirected"
        assert reading.wait(LIMIT) == 0


def test_a_job_goes_on_when_nobody_reads_its_progress(tmp_path: Path) -> None:
    with fresh_start(tmp_path, "deploy", SLOW, "-y", "-i", f"place={tmp_path}") as begun:
        until((tmp_path / "waiting").exists)
        assert begun.stderr is not None
        begun.stderr.close()
        (tmp_path / "go").touch()
        assert begun.wait(LIMIT) == 0
    assert (tmp_path / "done").read_text().split() == ["first", "second"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_result_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    process(tmp_path, "deploy", FAILING, "-y")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("status"),
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr


def test_ascii_where_the_encoding_is_not_utf_8(tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text("a: [\n")
    done = fresh_process(tmp_path, "validate", "service.yaml", PYTHONIOENCODING="ascii")
    assert done.code == 3
    assert done.err.isascii()


# ---------------------------------------------------------------------------------------------------------- signals


def test_one_interrupt_lets_running_steps_finish(tmp_path: Path) -> None:
    begun = start(tmp_path, "deploy", SLOW, "-y", "-i", f"place={tmp_path}")
    until((tmp_path / "waiting").exists)
    begun.send_signal(signal.SIGINT)
    (tmp_path / "go").touch()
    _, err = begun.communicate(timeout=LIMIT)
    assert begun.returncode == 130, err
    assert (tmp_path / "done").read_text().split() == ["first"]
    assert "once more ends them now" in err
    assert "cancelled" in err
    assert "ordito deploy" in err
    assert process(tmp_path, "deploy", "-y").code == 0
    assert (tmp_path / "done").read_text().split() == ["first", "second"]


def test_two_interrupts_end_running_steps(tmp_path: Path) -> None:
    begun = start(tmp_path, "deploy", SLOW, "-y", "-i", f"place={tmp_path}")
    until((tmp_path / "waiting").exists)
    assert begun.stderr is not None
    begun.send_signal(signal.SIGINT)
    while "once more" not in begun.stderr.readline():
        pass
    begun.send_signal(signal.SIGTERM)
    begun.communicate(timeout=LIMIT)
    assert begun.returncode == 130
    assert not (tmp_path / "done").exists()


def test_killed_and_resumed(tmp_path: Path) -> None:
    """What changes is refused with exit code 5 until the job is resumed; what reads shows it."""
    begun = start(tmp_path, "deploy", SLOW, "-y", "-i", f"place={tmp_path}")
    until((tmp_path / "waiting").exists)

    locked = process(tmp_path, "undeploy", "-y")
    assert locked.code == 5
    assert f"process {begun.pid}" in locked.err
    assert "is being run by" in process(tmp_path, "status").out

    begun.kill()
    begun.communicate()
    for words in (["deploy", "-y"], ["undeploy", "-y"]):
        refused = process(tmp_path, *words)
        assert refused.code == 5
        assert "ordito jobs resume" in refused.err
    assert "was interrupted" in process(tmp_path, "status").out
    assert process(tmp_path, "jobs", "list", "-o", "json").json["jobs"][0]["outcome"] == "interrupted"

    manifest = tmp_path / "ensemble.yaml"
    whole = manifest.read_text()
    manifest.write_text(f"{MARKER.decode()}\n{MARKER.decode()}\n")
    damaged = process(tmp_path, "status")
    assert damaged.code == 3, "a command that only reads fails in no job"
    assert "Next:  ordito status" in damaged.err
    manifest.write_text(whole)

    (tmp_path / "go").touch()
    resumed = process(tmp_path, "jobs", "resume")
    assert resumed.code == 0, resumed.err
    assert (tmp_path / "done").read_text().split() == ["first", "second"]
    jobs = process(tmp_path, "jobs", "list", "-o", "json").json["jobs"]
    assert [job["outcome"] for job in jobs] == ["ok"]


def test_waiting_for_the_lock(tmp_path: Path) -> None:
    begun = start(tmp_path, "deploy", SLOW, "-y", "-i", f"place={tmp_path}")
    until((tmp_path / "waiting").exists)
    waiting = start(tmp_path, "deploy", "-y", "--wait-lock", "60")
    (tmp_path / "go").touch()
    _, err = waiting.communicate(timeout=LIMIT)
    assert waiting.returncode == 0, err
    assert "Nothing to do" in err
    begun.communicate(timeout=LIMIT)
    assert begun.returncode == 0


# ---------------------------------------------------------------------------------------------------------- crashes


@pytest.mark.parametrize("place", ["", "here", "elsewhere"])
def test_our_own_fault_is_one_line_and_a_file(tmp_path: Path, place: str) -> None:
    """The file lies in the ensemble if there is one, wherever that was named on the command line."""
    (tmp_path / "here" / ".ordito").mkdir(parents=True)
    (tmp_path / "here" / ".ordito" / "journal.db").touch()
    program = (
        "import sys, ordito.authoring.validate as v\n"
        "def broken(*a): raise ZeroDivisionError('by design')\n"
        "v.validate = broken\n"
        "from ordito.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "validate", str(TINY), *(["-e", place] if place else [])],
        cwd=tmp_path,
        env=environment(TMPDIR=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    found = re.search(r"the details are in (\S+)", done.stderr)
    assert found is not None
    file = tmp_path / found[1]
    assert "by design" in file.read_text()
    assert (file.parent == tmp_path / "here" / ".ordito") is (place == "here")
    assert ("nothing of it is lost: ordito -e here jobs resume" in done.stderr) is (place == "here")


# --------------------------------------------------------------------------------------------------------- terminals


class Terminal:
    """A command on a terminal of its own, which answers and reads."""

    def __init__(self, cwd: Path, *arguments: str | Path, **more: str) -> None:
        self._master, slave = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen(
            command(*arguments),
            cwd=cwd,
            env=environment(TERM="xterm", **more),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def read_until(self, text: str) -> None:
        while text not in self.shown:
            self._read()

    def answer(self, text: str) -> None:
        os.write(self._master, f"{text}\n".encode())

    def end(self) -> int:
        try:
            while True:
                self._read()
        except OSError:
            # The other side is closed.
            os.close(self._master)
        return self.process.wait(LIMIT)

    def _read(self) -> None:
        data = os.read(self._master, 65536)
        if not data:
            raise OSError("closed")
        self.shown += data.decode(errors="replace")


def test_the_question_shows_the_plan_and_takes_yes_no_and_details(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "deploy", TINY, "-i", "log=/dev/null")
    terminal.read_until("[yes/no/details]")
    assert "Plan: 2 to create" in terminal.shown
    terminal.answer("details")
    terminal.read_until("Wave 1")
    terminal.answer("what?")
    terminal.answer("no")
    assert terminal.end() == 130
    assert "Nothing was changed" in terminal.shown
    assert list(tmp_path.iterdir()) == []

    terminal = Terminal(tmp_path, "deploy", TINY, "-i", "log=/dev/null")
    terminal.read_until("[yes/no/details]")
    terminal.answer("yes")
    assert terminal.end() == 0
    assert (tmp_path / "ensemble.yaml").exists()


def test_on_a_terminal_the_tree_is_redrawn_and_taken_away_at_the_end(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "deploy", SLOW, "--yes", "-i", f"place={tmp_path}")
    terminal.read_until("Ctrl-C once")
    terminal.read_until("waiting")
    assert "first_1" in terminal.shown
    (tmp_path / "go").touch()
    assert terminal.end() == 0
    assert "RECAP" in terminal.shown
    assert "\x1b[" in terminal.shown
    assert "\x1b[32m" in terminal.shown


def test_no_color_on_a_terminal_is_heeded(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "deploy", FAILING, "--yes", NO_COLOR="1")
    assert terminal.end() == 1
    assert not re.search(r"\x1b\[(?:[0-9;]*;)?3[0-9]m", terminal.shown)
    assert "FAILED" in terminal.shown


DATABASE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    database:
      type: tosca.nodes.SoftwareComponent
      metadata: { ordito.data: kept }
      requirements: [ host: server ]
      interfaces: { Standard: { operations: { create: run.sh } } }
    server: { type: tosca.nodes.Compute }
"""


@pytest.mark.parametrize(("written", "code"), [("database_1", 0), ("yes", 130), ("", 130)])
def test_whoever_would_lose_data_has_to_write_whose(tmp_path: Path, written: str, code: int) -> None:
    """To say yes is not enough where data of what the command names would be lost."""
    (tmp_path / "service.yaml").write_text(DATABASE)
    (tmp_path / "run.sh").write_text('echo ran >>"$HOME/log"\n')
    terminal = Terminal(tmp_path, "deploy", "service.yaml", "-e", "live", "--yes", HOME=str(tmp_path))
    assert terminal.end() == 0, terminal.shown
    terminal = Terminal(tmp_path, "heal", "database_1", "--reinstall", "-e", "live", HOME=str(tmp_path))
    terminal.read_until("[yes/no/details]")
    assert "data of database_1 is lost" in terminal.shown
    terminal.answer("yes")
    terminal.read_until("Write its name to go ahead")
    terminal.answer(written)
    assert terminal.end() == code
    assert (tmp_path / "log").read_text().count("ran") == (2 if code == 0 else 1)
