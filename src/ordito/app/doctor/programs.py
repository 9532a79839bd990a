"""Other programs of this machine: which are installed, their versions, and whether they answer."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import msgspec

from ordito import __version__
from ordito.app.doctor.finding import BROKEN, MACHINE, MISSING, OK, OLD, PROGRAM, DoctorFinding
from ordito.base.git_process import Git, GitFailed, NoGit
from ordito.executors.ansible.program import NAME as ANSIBLE
from ordito.executors.ansible.program import find_program
from ordito.executors.interpreters import OLDEST

SECONDS = 5.0
"""How many seconds to wait for a program."""
ALWAYS = "always"


class Program(msgspec.Struct, frozen=True):
    """A program that is checked."""

    name: str
    words: Sequence[str]
    """The arguments with which it prints its version."""

    purpose: str
    package: str
    """The Debian package that has it."""

    cure: str = ""
    """How to install it otherwise."""

    least: str = ""
    """The oldest version that can be used."""

    answers: bool = False
    """Whether printing its version also shows that it can be used."""


PROGRAMS: Sequence[Program] = (
    Program("bash", ("--version",), "operations that are Bash scripts", "bash"),
    Program(
        "python3", ("--version",), "operations that are Python scripts", "python3", least=".".join(map(str, OLDEST))
    ),
    Program("git", ("--version",), "ensembles kept in git, and what templates fetch from git", "git"),
    Program("ssh", ("-V",), "playbooks on hosts, and git over SSH", "openssh-client"),
    Program(ANSIBLE, ("--version",), "operations that are playbooks", "", "pip install 'ordito[ansible]'"),
    Program("podman", ("info", "--format", "{{.Version.Version}}"), "containers", "podman", answers=True),
    Program("docker", ("info", "--format", "{{.ServerVersion}}"), "containers", "docker.io", answers=True),
    Program("psql", ("--version",), "blocks that work on PostgreSQL", "postgresql-client"),
    Program("pg_dump", ("--version",), "backups of PostgreSQL", "postgresql-client"),
    Program("nsupdate", ("-V",), "blocks that register names in DNS", "bind9-dnsutils"),
    Program("cue", ("version",), "`ordito lifecycle import`", "", "install CUE as its documentation says"),
    Program("dot", ("-V",), "pictures of what `ordito graph -o dot` writes", "graphviz"),
)
"""The programs, in the order in which they are shown."""


def find_programs(used: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """Check all programs at the same time; ``used`` has by name of a program what of the ensemble uses it."""
    with ThreadPoolExecutor(len(PROGRAMS)) as pool:
        yield from pool.map(lambda program: _finding(program, used.get(program.name, "")), PROGRAMS)


def find_identity(directory: Path, used: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """Whether git has an identity for commits in a directory, if git is installed."""
    purpose, needed = "commits of what jobs write", used.get("git", "")
    try:
        name = Git(directory).line("var", "GIT_COMMITTER_IDENT").rpartition(" <")[0]
    except NoGit:
        return
    except GitFailed:
        cure = 'git config --global user.name "NAME" && git config --global user.email ADDRESS'
        yield DoctorFinding(MACHINE, "git identity", MISSING, "", purpose, cure, needed)
        return
    yield DoctorFinding(MACHINE, "git identity", OK, name, purpose, needed=needed)


def _finding(program: Program, used: str) -> DoctorFinding:
    needed = ALWAYS if program.name == "bash" else used
    cure = program.cure or f"apt-get install {program.package}"
    found = DoctorFinding(MACHINE, program.name, MISSING, "", program.purpose, cure, needed)
    path = find_program(os.environ) if program.name == ANSIBLE else shutil.which(program.name)
    if not path:
        return found
    if version := _beside(path):
        return msgspec.structs.replace(found, state=OK, found=version, cure="")
    code, said = _ask([path, *program.words])
    if code is None:
        return msgspec.structs.replace(found, state=BROKEN, found=said, cure=f"try it: {program.name}")
    if program.answers and code != 0:
        words = " ".join([program.name, *program.words[:1]])
        return msgspec.structs.replace(found, state=BROKEN, found=said, cure=f"see what it says: {words}")
    version = shown(said)
    if is_older(version, program.least):
        return msgspec.structs.replace(found, state=OLD, found=f"{version}, below {program.least}")
    return msgspec.structs.replace(found, state=OK, found=version or "there", cure="")


def _beside(path: str) -> str:
    """The version of a program beside our own Python, from the metadata of its package: asking Ansible itself takes
    half a second."""
    if Path(path).parent != Path(sys.executable).parent or Path(path).name != ANSIBLE:
        return ""
    try:
        return metadata.version("ansible-core")
    except metadata.PackageNotFoundError:
        return ""


def _ask(command: Sequence[str]) -> tuple[int | None, str]:
    """The exit code of a program and the first line of its output; no code if it does not start or does not end."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"it did not answer within {SECONDS:g} seconds"
    except OSError as error:
        return None, error.strerror or "it cannot be started"
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return done.returncode, lines[-1 if done.returncode else 0].strip() if lines else ""


# Versions in what programs and packages say of themselves.

Version = tuple[int, ...]

_NUMBERS = re.compile(r"\d+(?:\.\d+)+(?:p\d+)?")


def shown(text: str) -> str:
    """The first part of a text that looks like a version; "" for none."""
    found = _NUMBERS.search(text)
    return found[0] if found else ""


def numbers(version: str) -> Version:
    """The numbers of a version, for comparing."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def is_older(version: str, least: str) -> bool:
    """Whether a version is below the least one; False if one of them is not known."""
    return bool(version and least) and numbers(version) < numbers(least)


# The program itself: its version, its Python, and the packages that it uses, those of its extras included.

ALWAYS_USED = "always"
PURPOSES: Mapping[str, tuple[str, str]] = {
    "asyncssh": ("ssh", "hosts that are reached by SSH"),
    "apache-libcloud": ("cloud", "machines of a cloud"),
    "starlette": ("server", "serving a team"),
    "psycopg": ("cluster", "ensembles in a shared store"),
}
"""Packages of extras that the program imports, with the extra and its purpose. Ansible is run as a program and checked
there."""

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(?:>=\s*(?P<least>[0-9.]+))?")


class RequiredPackage(msgspec.Struct, frozen=True):
    """A package that the program's own metadata require: the least version, and the extra that needs it, if any."""

    name: str
    least: str
    is_extra: bool


def find_packages(used: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """Check the program and its packages; ``used`` has by name of a package what of the ensemble uses it."""
    yield DoctorFinding(PROGRAM, "ordito", OK, __version__)
    yield DoctorFinding(PROGRAM, "Python", OK, platform.python_version())
    for package in _wanted():
        if not package.is_extra or package.name in PURPOSES:
            yield _package_finding(package, used)


def _wanted() -> list[RequiredPackage]:
    try:
        lines = metadata.requires("ordito") or []
    except metadata.PackageNotFoundError:
        # It runs from its sources: what it cannot do without is there, since this runs.
        return [RequiredPackage(name, "", is_extra=True) for name in PURPOSES]
    found = [(_REQUIREMENT.match(line), "extra ==" in line) for line in lines]
    return [RequiredPackage(match["name"].lower(), match["least"] or "", extra) for match, extra in found if match]


def _package_finding(package: RequiredPackage, used: Mapping[str, str]) -> DoctorFinding:
    extra, purpose = PURPOSES.get(package.name, ("", ""))
    needed = used.get(package.name, "") if package.is_extra else ALWAYS_USED
    cure = f"pip install 'ordito[{extra}]'" if extra else "pip install --force-reinstall ordito"
    try:
        version = metadata.version(package.name)
    except metadata.PackageNotFoundError:
        return DoctorFinding(PROGRAM, package.name, MISSING, "", purpose, cure, needed)
    if is_older(version, package.least):
        return DoctorFinding(PROGRAM, package.name, OLD, f"{version}, below {package.least}", purpose, cure, needed)
    return DoctorFinding(PROGRAM, package.name, OK, version, purpose, "", needed)
