"""What is known of an archive of a service, here and at a server."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.results.answer import Result, ResultData
from ordito.results.findings import FindingData


class PackageInput(msgspec.Struct, frozen=True):
    """An input of a service."""

    name: str
    type: str
    """As in ``map of integer``."""

    required: bool
    """Whether it needs a value: it has no default."""

    default: object
    """As it is written; null for none, and for one that must not be shown."""

    sensitive: bool
    description: str
    constraints: tuple[Mapping[str, object], ...]
    """Each as it is written."""


class PackageNode(msgspec.Struct, frozen=True):
    """A node template."""

    name: str
    type: str
    host: str
    """The node that hosts it, "" for none."""


class PackageType(msgspec.Struct, frozen=True):
    """A type that the service defines itself."""

    kind: str
    name: str


class PackagePolicy(msgspec.Struct, frozen=True):
    """A policy."""

    name: str
    type: str


class PackageSummary(ResultData, frozen=True, tag="ordito.packages-show/1"):
    """What is in an archive of a service."""

    name: str
    """The name of the service, "" where it has none of its own."""

    version: str
    """As its metadata says, "" where they say nothing."""

    author: str
    description: str
    entry: str
    """The entry definitions file."""

    inputs: tuple[PackageInput, ...]
    outputs: tuple[str, ...]
    nodes: tuple[PackageNode, ...]
    types: tuple[PackageType, ...]
    workflows: tuple[str, ...]
    policies: tuple[PackagePolicy, ...]
    files: tuple[str, ...]
    """The files in it, at most 10,000."""

    diagnostics: tuple[FindingData, ...]
    """Warnings and notes."""


class PackageLine(Result, frozen=True):
    """A package in the list."""

    digest: str
    """The SHA-256 of the archive, in hex: by it the package is known."""

    labels: tuple[str, ...]
    """Names that point to it, as in ``shop:2.4``."""

    name: str
    """The name of its service, "" where it has none of its own."""

    version: str
    size: int
    """In bytes."""

    nodes: int
    """How many node templates it has."""

    by: str
    """Who has sent it."""

    created: str


class PackageData(PackageLine, frozen=True):
    """A package, and what is in it."""

    summary: PackageSummary


class PackagesData(ResultData, frozen=True, tag="ordito.packages-list/1"):
    """The packages of a project, the latest first."""

    project: str
    packages: tuple[PackageLine, ...]


class PackageShownData(PackageSummary, frozen=True, kw_only=True, tag="ordito.packages-show/1"):
    """What is in a package of a server, and how it is known there."""

    digest: str
    labels: tuple[str, ...]
    size: int
    """In bytes."""

    by: str
    """Who has sent it."""

    created: str


class PackageFile(ResultData, frozen=True, tag="ordito.packages-file/1"):
    """A file in an archive."""

    file: str
    size: int
    """In bytes."""

    text: str | None
    """Its text; null where it is none, or longer than 4 MiB."""

    executable: bool
