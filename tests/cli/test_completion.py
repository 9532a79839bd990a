"""Words are completed in real shells: verbs, options, and the names of what there is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ordito.cli.main import run as run_here
from tests.cli.program import DATA, Run, environment, fresh_process
from tests.cli.test_usage import ALL
from tests.support.real.needs import need

TINY = DATA / "tiny"
HOSTS = "hosts:\n  one: { address: 192.0.2.1 }\n  two:\n    address: 192.0.2.2\n"

Offer = Callable[[str], list[str]]


@pytest.fixture
def offer(run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Offer:
    """What is offered for the last word of a line, in an ensemble."""
    Path("ensemble.yaml").write_text(f"spec:\n  service: {TINY}\n  environments:\n    test: {{}}\n    live: {{}}\n")
    Path("hosts.yaml").write_text(HOSTS)
    assert (
        run(
            "deploy", "--yes", "-i", "word=hi", "-i", "log=/dev/null", "-i", "count=2", "--env", "test", "--hosts", ""
        ).code
        == 0
    )

    def offered(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        monkeypatch.setenv("_ORDITO_COMPLETE", "bash_complete")
        capsys.readouterr()
        assert run_here([]) in {0, 64}
        monkeypatch.delenv("_ORDITO_COMPLETE")
        return capsys.readouterr().out.splitlines()

    return offered


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ordito und", ["undeploy"]),
        ("ordito jobs re", ["report", "resume", "retry", "replay"]),
        ("ordito deploy --on-f", ["--on-failure"]),
        ("ordito deploy --on-failure a", ["abort"]),
        ("ordito --env l", ["live"]),
        ("ordito describe to", ["top", "top_1", "top_2"]),
        ("ordito describe top_2 x", []),
        ("ordito stop top_1 top_", ["top_2"]),
        ("ordito scale to", ["top"]),
        ("ordito -e . heal top_", ["top_1", "top_2"]),
        ("ordito -e elsewhere heal top_", []),
        ("ordito plan hea", ["heal"]),
        ("ordito plan heal top_", ["top_1", "top_2"]),
        ("ordito graph --workflow ro", ["rollback"]),
        ("ordito output wo", ["word"]),
        ("ordito hosts check t", ["two"]),
        ("ordito blocks show BackupF", ["BackupFiles"]),
        ("ordito completion f", ["fish"]),
        ("ordito deploy -i co", ["count="]),
        ("ordito deploy --forget-input wo", ["word"]),
        ("ordito deploy --node to", ["top"]),
        ("ordito run --type ", ["test.nodes.Logged"]),
        ("ordito run Standard.st", ["Standard.start", "Standard.stop"]),
        ("ordito rollback ", ["1"]),
        ("ordito nonsense ", []),
        ("ordito --version ", None),
    ],
)
def test_what_is_offered(offer: Offer, line: str, expected: list[str] | None) -> None:
    found = [item.removeprefix("plain,") for item in offer(line) if item.startswith("plain,")]
    if expected is None:
        assert "deploy" in found
    else:
        assert found == expected


def test_paths_are_left_to_the_shell(offer: Offer) -> None:
    assert offer("ordito deploy s") == ["file,s"]
    assert offer("ordito -e s") == ["dir,s"]


def test_jobs_and_secrets_by_name(offer: Offer, run: Run) -> None:
    job = run("jobs", "list", "-o", "json").json["jobs"][0]["id"]
    assert f"plain,{job}" in offer("ordito jobs show ")
    Path("value").write_text("a long enough secret")
    assert run("secrets", "set", "token", "--file", "value").code == 0
    assert offer("ordito secrets get t") == ["plain,token"]


HEAVY = {"asyncio", "cryptography", "jinja2", "rich", "sqlite3", "yaml"} | {
    f"ordito.{room}" for room in ("blocks", "engine", "executors", "planning", "providers", "syntax")
}


def test_nothing_heavy_is_loaded(tmp_path: Path) -> None:
    """Each key that is pressed starts the program again."""
    code = (
        "import os, sys\n"
        "from ordito.cli.main import run\n"
        "for line in sys.argv[1:]:\n"
        "    os.environ.update(COMP_WORDS=line, COMP_CWORD=str(line.count(' ')), _ORDITO_COMPLETE='bash_complete')\n"
        "    run([])\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    lines = [f"ordito {' '.join(words)} " for words in ALL]
    done = subprocess.run(
        [sys.executable, "-c", code, *lines],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert HEAVY.isdisjoint(done.stderr.split())
    assert "ordito.cli.verbs.jobs" in done.stderr.split()


SHELLS = {
    "bash": """
        source ./script
        COMP_WORDS=(ordito heal top_) COMP_CWORD=2
        $(complete -p ordito | grep -o '_[a-z_]*completion') ordito top_ heal
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        compdef() { asked=$1 }
        compadd() { print -l $completions }
        source ./script
        words=(ordito heal top_) CURRENT=3
        $asked
    """,
    "fish": """
        source script
        complete -C "ordito heal top_"
    """,
}


@pytest.mark.parametrize("shell", SHELLS)
def test_in_a_real_shell(offer: Offer, tmp_path: Path, shell: str) -> None:
    need(shell, shell)
    Path("script").write_text(fresh_process(tmp_path, "completion", shell).out)
    program = tmp_path / "bin" / "ordito"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ordito "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    options = ["--no-config"] if shell == "fish" else ["-f"] if shell == "zsh" else ["--norc"]
    done = subprocess.run(
        [shell, *options, "-c", SHELLS[shell]],
        cwd=tmp_path,
        env=environment(PATH=path, HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["top_1", "top_2"], done.stderr
