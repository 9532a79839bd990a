"""What holds for all tests: how long an example takes says more about the machine than about the code.

And the real targets that tests share: each process of tests starts one of a kind when a test first asks for it.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from ordito.base.collector import THRESHOLDS
from tests.support.golden import VARIABLE
from tests.support.thorough import examples

if TYPE_CHECKING:
    from ordito.cluster.store import Store
    from tests.support.real.hosts import SshHosts
    from tests.support.real.moto import Moto
    from tests.support.real.podman import Podman
    from tests.support.real.stores import StoredJournals, StoreServer

if VARIABLE in os.environ:
    from tests.support.golden import golden  # noqa: F401

settings.register_profile(
    "ordito", max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ordito")
# As commands do: what tests keep is much, and to look through it over and over again frees nothing.
gc.set_threshold(*THRESHOLDS)

# As `./run` does: to compile all tests and the program again for each process of tests, and each that they start, takes
# longer than many of the tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets what it starts in the background ignore interrupts, and the programs under test would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    # So does `nohup` with what says that a terminal has gone.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


TARGETS = frozenset({"ssh_hosts", "podman", "moto", "postgres", "bind", "store_server", "store"})
"""What is started for tests besides processes of this machine."""
OF_TARGETS = frozenset(
    {
        *("ansible", "browser", "test_containers", "test_crash_upgrade", "test_shop_upgrade", "test_run_script"),
        *("test_plans", "test_backup", "test_isolation", "test_git_sources", "test_webhooks", "test_schedules"),
        *("client", "test_contract", "test_figures", "test_known_ensembles", "test_starting"),
        *("test_attacks", "test_common_rules", "test_compression", "test_job_pages", "test_records"),
    }
)
"""Folders and files of tests that start such by themselves, make whole environments, or start and kill many servers."""


NOT_TARGETS = "not targets"
"""The expression with which `./run test` leaves out the tests of real targets."""


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write down how much has failed, for `./run --again`: what pytest keeps lacks the parts of a test."""
    if not hasattr(session.config, "workerinput") and session.config.cache is not None:
        session.config.cache.set("ordito/failed", session.testsfailed)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even read the files of which all tests are left out: one of them makes its tests for ten seconds."""
    left_out = config.getoption("markexpr") == NOT_TARGETS and collection_path.stem in OF_TARGETS
    # Whoever names a file gets it, as pytest has it.
    return True if left_out else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of real targets, which `./run targets` runs and `./run test` leaves out."""
    for item in items:
        names = {*item.path.parts, item.path.stem}
        if not TARGETS.isdisjoint(getattr(item, "fixturenames", ())) or not OF_TARGETS.isdisjoint(names):
            item.add_marker("targets")


@pytest.fixture(scope="session")
def ssh_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshHosts]:
    """Hosts with an `sshd` each, started as they are asked for."""
    from tests.support.real.hosts import SshHosts

    with SshHosts(tmp_path_factory.mktemp("hosts")) as hosts:
        yield hosts


@pytest.fixture(scope="session")
def podman() -> Iterator[Podman]:
    """Podman with its test images, in a storage of its own."""
    from tests.support.real.podman import Podman

    with Podman() as engine:
        yield engine


@pytest.fixture(scope="session")
def store_server() -> Iterator[StoreServer]:
    """A server of PostgreSQL for stores."""
    from tests.support.real.stores import StoreServer

    with StoreServer() as server:
        yield server


@pytest.fixture
def store(store_server: StoreServer) -> Store:
    """An empty store with all its tables."""
    return store_server.store()


@pytest.fixture(scope="session")
def stored_journals(store_server: StoreServer) -> Iterator[StoredJournals]:
    """Journals in one store that many tests share."""
    from tests.support.real.stores import StoredJournals

    found = StoredJournals(store_server.store())
    yield found
    found.close()


@pytest.fixture(scope="session")
def moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moto]:
    """An emulator of EC2."""
    from tests.support.real.moto import Moto

    with Moto(tmp_path_factory.mktemp("moto")) as emulator:
        yield emulator
