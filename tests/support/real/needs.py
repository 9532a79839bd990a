"""What the tests of real targets need of this machine: it is here, or the test is skipped and says what is missing.

The environment variable ``ORDITO_REQUIRED`` names, with commas, those that must be here: a test that would be skipped
for lack of one fails instead.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

import pytest

REQUIRED = "ORDITO_REQUIRED"
PLACES = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/sbin"])


def program(name: str) -> Path | None:
    """Where a program lies, those of the administrator included."""
    found = shutil.which(name, path=PLACES)
    return Path(found) if found else None


def ansible_playbook() -> Path:
    """The program of the Ansible that is installed beside the tests."""
    beside = Path(sys.executable).with_name("ansible-playbook")
    if not beside.exists():
        lacking("ansible", "the package ansible-core is not installed")
    return beside


def lacking(what: str, why: str) -> NoReturn:
    """Skip the test that runs, or fail it where ``what`` is required."""
    text = f"{what} cannot be used here: {why}"
    if what in os.environ.get(REQUIRED, "").split(","):
        pytest.fail(f"{text}, and {REQUIRED} requires it", pytrace=False)
    pytest.skip(text)


def need(what: str, *programs: str) -> None:
    """Ask for programs that ``what`` is made of."""
    if missing := [name for name in programs if program(name) is None]:
        lacking(what, f"there is no {', '.join(missing)}")
