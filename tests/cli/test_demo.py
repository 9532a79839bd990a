"""`./run demo` deploys, visits and removes a real application, and says how to repeat it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.cli.program import LIMIT, environment

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_the_demo_runs_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DEMO)],
        env=environment(TMPDIR=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for verb in ("deploy", "status", "output", "undeploy"):
        assert f"$ ./run ordito {verb}" in done.stdout
    assert set(re.findall(r"^(web_\d) answers", done.stdout, re.MULTILINE)) == {"web_1", "web_2", "web_3"}
    assert list(tmp_path.iterdir()) == []


def test_the_shop_is_served_and_removed_when_told_to_stop(tmp_path: Path) -> None:
    command = [sys.executable, str(DEMO), "--serve", "--listen", "127.0.0.1:0"]
    variables = environment(TMPDIR=str(tmp_path))
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        served = next(line for line in running.stdout if line.startswith("Ordito serves"))
        with urllib.request.urlopen(f"{served.split()[2]}/healthz", timeout=LIMIT) as answer:
            assert json.load(answer)["well"]
        running.send_signal(signal.SIGTERM)
        rest = running.stdout.read()
        assert running.wait(LIMIT) == 0, rest
    assert "$ ./run ordito undeploy" in rest
    assert list(tmp_path.iterdir()) == []
