"""The program itself: its version, its Python, and the packages that it uses, those of its extras included."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Mapping
from importlib import metadata

import msgspec

from ordito import __version__
from ordito.app.doctor.finding import MISSING, OK, OLD, PROGRAM, Finding
from ordito.app.doctor.versions import is_older

ALWAYS = "always"
PURPOSES: Mapping[str, tuple[str, str]] = {
    "asyncssh": ("ssh", "hosts that are reached by SSH"),
    "apache-libcloud": ("cloud", "machines of a cloud"),
}
"""Packages of extras that the program imports: the extra, and what it is for. Ansible is a program of its own."""

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(?:>=\s*(?P<least>[0-9.]+))?")


class Wanted(msgspec.Struct, frozen=True):
    """A package as the program's own metadata ask for it: the least version, and whether an extra brings it."""

    name: str
    least: str
    is_extra: bool


def find_packages(used: Mapping[str, str]) -> Iterator[Finding]:
    """Look at the program and its packages; ``used`` says what of the ensemble uses a package, by its name."""
    yield Finding(PROGRAM, "ordito", OK, __version__)
    yield Finding(PROGRAM, "Python", OK, platform.python_version())
    for package in _wanted():
        if not package.is_extra or package.name in PURPOSES:
            yield _finding(package, used)


def _wanted() -> list[Wanted]:
    try:
        lines = metadata.requires("ordito") or []
    except metadata.PackageNotFoundError:
        # It runs from its sources: what it cannot do without is there, since this runs.
        return [Wanted(name, "", is_extra=True) for name in PURPOSES]
    found = [(_REQUIREMENT.match(line), "extra ==" in line) for line in lines]
    return [Wanted(match["name"].lower(), match["least"] or "", extra) for match, extra in found if match]


def _finding(package: Wanted, used: Mapping[str, str]) -> Finding:
    extra, purpose = PURPOSES.get(package.name, ("", ""))
    needed = used.get(package.name, "") if package.is_extra else ALWAYS
    cure = f"pip install 'ordito[{extra}]'" if extra else "pip install --force-reinstall ordito"
    try:
        version = metadata.version(package.name)
    except metadata.PackageNotFoundError:
        return Finding(PROGRAM, package.name, MISSING, "", purpose, cure, needed)
    if is_older(version, package.least):
        return Finding(PROGRAM, package.name, OLD, f"{version}, below {package.least}", purpose, cure, needed)
    return Finding(PROGRAM, package.name, OK, version, purpose, "", needed)
