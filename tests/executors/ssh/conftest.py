"""Hosts to run operations on."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from pathlib import Path

import pytest

from tests.executors.ssh.far import Far
from tests.support.real.hosts import SshHosts

_numbers = itertools.count()


@pytest.fixture
def far(tmp_path: Path, ssh_hosts: SshHosts) -> Far:
    """The host that all tests share, with a folder of this test's own on it."""
    return Far(tmp_path, ssh_hosts, ssh_hosts.shared(), f"test-{next(_numbers)}")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Tests that are coroutines run on a loop of their own, and take leave of their host on it."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}

    async def run() -> None:
        try:
            await pyfuncitem.obj(**arguments)
        finally:
            for argument in arguments.values():
                if isinstance(argument, Far):
                    await argument.leave()

    asyncio.run(run())
    return True
