"""Podman and the emulator of EC2 answer, from settings and with images of the tests' own."""

from __future__ import annotations

import urllib.request
from pathlib import Path

from tests.support.real.moto import Moto
from tests.support.real.podman import LARGE, SMALL, Podman, large_volumes


def test_containers_of_both_images_run(podman: Podman, tmp_path: Path) -> None:
    assert podman.run("run", "--rm", SMALL, "sh", "-c", "echo $((6 * 7))") == "42\n"
    volumes = [word for volume in large_volumes() for word in ("--volume", volume)]
    python = "import sys; print(sys.version_info[0])"
    assert podman.run("run", "--rm", *volumes, LARGE, "bash", "-c", f'python3 -c "{python}"') == "3\n"
    assert podman.containers() == []
    assert podman.archive(tmp_path / "small.tar").stat().st_size > 100_000


def test_the_emulator_answers_and_forgets(moto: Moto) -> None:
    moto.reset()
    with urllib.request.urlopen(f"{moto.endpoint}/moto-api/data.json", timeout=30) as answer:
        assert answer.status == 200
