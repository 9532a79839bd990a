"""What a newcomer sees first: the shop of `./run serve`, in a browser that opens the printed link."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.program import LIMIT, environment
from tests.cli.test_demo import DEMO
from tests.support.browsing import WIDE, open_tab


@pytest.mark.timeout(300)
def test_the_link_shows_the_shop(tmp_path: Path, browser: Browser) -> None:
    command = [sys.executable, str(DEMO), "--serve", "--listen", "127.0.0.1:0"]
    variables = environment(TMPDIR=str(tmp_path))
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            link = next(line for line in running.stdout if line.startswith("Sign in")).split()[-1]
            tab = open_tab(browser, link.partition("/sign-in")[0], size=WIDE)
            page = tab.page
            page.goto(link)
            page.get_by_role("link", name="my-shop").first.click()
            tab.wait_until_live()
            expect(page.get_by_text("9 ok")).to_be_visible()
            expect(page.get_by_text("balancer", exact=True).first).to_be_visible()
            tab.wait_until_live()
            tab.screenshot("shop")
            assert tab.findings() == []
            tab.close()
        finally:
            running.send_signal(signal.SIGTERM)
            rest = running.stdout.read()
            assert running.wait(LIMIT) == 0, rest
