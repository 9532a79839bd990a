"""The sdist and the wheel: ``./run package`` builds them in `dist`, looks at what they hold and say, and installs the
wheel with each extra into an empty environment, where with an empty home it deploys something and removes it again.

The wheel is built from the unpacked sdist, and some tests are run there, so that this holds all that is needed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

import msgspec
from packaging.metadata import Metadata

from tools.proofs.results import ROOT, Figure, Figures

DIST = ROOT / "dist"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
EXTRAS: Mapping[str, Sequence[str]] = {
    "": (),
    "ssh": ("asyncssh",),
    "ansible": ("ansible-playbook",),
    "cloud": ("apache-libcloud",),
    "server": ("starlette",),
    "cluster": ("psycopg",),
}
"""By each extra, what `ordito doctor` must find that it does not find without it."""
QUICK = ("",)
TESTS = ("tests/base", "tests/syntax", "tests/cli/test_usage.py")
"""What is run in the unpacked sdist: little, but of what reads data of the package and of the tests."""
MADE_BY_BUILDING = {"PKG-INFO"}
WEB = Path("src") / "ordito" / "server" / "web"
"""Where the web UI is built; git does not know it."""


class Wrong(Exception):
    """Something is not as it must be; the text says what."""


def run(*command: str | Path, cwd: Path, environment: Mapping[str, str]) -> str:
    """What a command prints. Raises ``Wrong`` where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Wrong(f"{' '.join(words)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def build(work: Path) -> tuple[Path, Path]:
    """Build the sdist, unpack it, and build the wheel from that; gives the wheel and the unpacked folder."""
    shutil.rmtree(DIST, ignore_errors=True)
    hatchling = (sys.executable, "-m", "hatchling", "build", "-d", DIST)
    run(*hatchling, "-t", "sdist", cwd=ROOT, environment=os.environ)
    (sdist,) = DIST.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        # Early versions of Python 3.11 know no filters of archives; this one was packed a moment ago.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(work)  # noqa: S202
    unpacked = work / sdist.name.removesuffix(".tar.gz")
    run(*hatchling, "-t", "wheel", cwd=unpacked, environment=os.environ)
    (wheel,) = DIST.glob("*.whl")
    return wheel, unpacked


def check_contents(wheel: Path, unpacked: Path) -> None:
    """That the sdist holds all that git knows and nothing else, and the wheel all of the package."""
    if (ROOT / ".git").exists():
        known = set(
            run(
                "git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT, environment=os.environ
            ).splitlines()
        )
        built = {str(p.relative_to(ROOT)) for p in (ROOT / WEB).rglob("*") if p.is_file()}
        if not built:
            raise Wrong("the web UI is not built")
        _same(
            "the sdist",
            {str(p.relative_to(unpacked)) for p in unpacked.rglob("*") if p.is_file()},
            known | MADE_BY_BUILDING | built,
        )
    package = unpacked / "src"
    wanted = {str(p.relative_to(package)) for p in package.rglob("*") if p.is_file()}
    # What is installed beside the package: the man page.
    data = f"{'-'.join(wheel.name.split('-')[:2])}.data/data"
    wanted |= {f"{data}/{p.relative_to(unpacked)}" for p in (unpacked / "share").rglob("*") if p.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        _same("the wheel", {name for name in archive.namelist() if ".dist-info/" not in name}, wanted)


def _same(what: str, found: Set[str], wanted: Set[str]) -> None:
    if found != wanted:
        raise Wrong(f"{what} lacks {sorted(wanted - found)[:5]}, and should not hold {sorted(found - wanted)[:5]}")


def check_metadata(wheel: Path) -> str:
    """That what the wheel says of itself is sound; gives its version."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Metadata.from_email(archive.read(name), validate=True)
    lacking = [
        f
        for f in ("summary", "description", "license_expression", "classifiers", "requires_python")
        if not getattr(metadata, f)
    ]
    if lacking:
        raise Wrong(f"the metadata lack {', '.join(lacking)}")
    extras = set(metadata.provides_extra or ())
    _same("what the wheel says of its extras", extras, {extra for extra in EXTRAS if extra})
    return str(metadata.version)


def check_tests(unpacked: Path) -> None:
    """That tests of the sdist run in it."""
    environment = {**os.environ, "PYTHONPATH": str(unpacked / "src")}
    run(sys.executable, "-m", "pytest", "-q", *TESTS, cwd=unpacked, environment=environment)


def check_installed(wheel: Path, extra: str, version: str, work: Path) -> None:
    """Install the wheel with an extra into an empty environment, and use it with an empty home."""
    place, home = work / f"venv-{extra or 'plain'}", work / f"home-{extra or 'plain'}"
    home.mkdir()
    base = getattr(sys, "_base_executable", sys.executable)
    run(base, "-m", "venv", place, cwd=work, environment=os.environ)
    pip = (place / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "install", f"{wheel}[{extra}]" if extra else wheel, cwd=work, environment=os.environ)
    run(*pip, "check", cwd=work, environment=os.environ)
    environment = {"PATH": f"{place / 'bin'}:{PATH}", "HOME": str(home), "LANG": "C.UTF-8"}

    def ordito(*words: str) -> str:
        return run(place / "bin" / "ordito", *words, cwd=home, environment=environment)

    if ordito("--version") != f"ordito {version}\n":
        raise Wrong(f"it says to be {ordito('--version')!r}, and its metadata {version}")
    ordito("init", "mine")
    in_memory = "from ordito.testing import run_workflow; print(run_workflow('mine').status)"
    if run(place / "bin" / "python", "-c", in_memory, cwd=home, environment=environment) != "ok\n":
        raise Wrong("ordito.testing does not deploy what `ordito init` makes")
    ordito("deploy", "mine", "-e", "ensemble", "--yes")
    if json.loads(ordito("status", "-e", "ensemble", "-o", "json"))["status"] != "ok":
        raise Wrong("what was deployed is not well")
    ordito("jobs", "replay", "-e", "ensemble")
    if extra == "server":
        check_serving(place / "bin" / "ordito", home, environment)
    ordito("undeploy", "-e", "ensemble", "--yes")
    found = {one["name"]: one["state"] for one in json.loads(ordito("doctor", "-o", "json"))["findings"]}
    lacking = [name for name in EXTRAS[extra] if found[name] != "ok"]
    if lacking:
        raise Wrong(f"with the extra {extra} there is no {', '.join(lacking)}")


def check_serving(program: Path, home: Path, environment: Mapping[str, str]) -> None:
    """Serve the ensemble, and ask for the API and the web UI."""
    command = [str(program), "-e", "ensemble", "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=home, env=dict(environment), stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        url = serving.stdout.readline().split()[2]
        with urllib.request.urlopen(f"{url}/api/v1/openapi.json", timeout=60) as answer:
            if json.load(answer)["openapi"] != "3.1.0":
                raise Wrong("the server does not say what its API is")
        with urllib.request.urlopen(url, timeout=60) as answer:
            if b'<script type="module"' not in answer.read():
                raise Wrong("the server has no web UI")
        serving.terminate()


def check_all(work: Path, extras: Sequence[str]) -> None:
    """Build and check everything; says how far it has come."""
    wheel, unpacked = build(work)
    print(f"{wheel.relative_to(ROOT)}, from the unpacked sdist", flush=True)
    check_contents(wheel, unpacked)
    version = check_metadata(wheel)
    print("contents and metadata are right", flush=True)
    check_tests(unpacked)
    print("tests run in the unpacked sdist", flush=True)
    for extra in extras:
        check_installed(wheel, extra, version, work)
        print(
            f"installed {f'with the extra {extra}' if extra else 'without extras'}, deployed and undeployed", flush=True
        )


def main(arguments: list[str]) -> int:
    """Run it; gives the exit code."""
    parser = argparse.ArgumentParser(prog="./run package", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="install it without extras only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write whether all held, as a figure")
    given = parser.parse_args(arguments)
    extras = QUICK if given.quick else tuple(EXTRAS)
    problem = ""
    with tempfile.TemporaryDirectory(prefix="ordito-package-") as folder:
        try:
            check_all(Path(folder), extras)
        except Wrong as wrong:
            problem = str(wrong)
            print(problem, file=sys.stderr)
    if given.json:
        figures = Figures([Figure("package.problems", float(bool(problem)), not problem, 0)])
        given.json.write_bytes(msgspec.json.encode(figures))
    return int(bool(problem))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
