"""A plug-in of pytest that keeps how each test ended, as it ends, and leaves out those that have ended before.

``ORDITO_PROOFS_DIARY`` is the file that it writes, a JSON object a line; ``ORDITO_PROOFS_DONE`` holds the tests to
leave out, which do not change while the tests run: a worker that is started again collects the same.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

DIARY, DONE = "ORDITO_PROOFS_DIARY", "ORDITO_PROOFS_DONE"
MOST_WORDS = 400


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is known."""
    known = set(Path(os.environ[DONE]).read_text(encoding="utf-8").splitlines())
    left = [item for item in items if item.nodeid in known]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item.nodeid not in known]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how a test ended: once where all went well, and each phase that failed."""
    if report.failed or report.skipped or report.when == "call":
        expected = hasattr(report, "wasxfail") and not report.failed
        _keep(report.nodeid, "passed" if expected else report.outcome, _why(report))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be collected has failed, and one that is skipped whole has been skipped."""
    if report.failed or report.skipped:
        _keep(report.nodeid, report.outcome, _why(report))


def _why(report: pytest.TestReport | pytest.CollectReport) -> str:
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])[:MOST_WORDS]
    return str(report.longrepr)[-MOST_WORDS:]


def _keep(test: str, outcome: str, why: str) -> None:
    # Workers report to the process that started them, which reports all.
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(os.environ[DIARY]).open("a", encoding="utf-8") as diary:
            diary.write(json.dumps({"id": test, "outcome": outcome, "why": why}) + "\n")
