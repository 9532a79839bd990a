"""A service in another language, written as a service of TOSCA 1.3: the same plan, in files of its own."""

from __future__ import annotations

import posixpath
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.output_file import cannot_write
from ordito.app.services.read import network
from ordito.app.services.step_blocks import StepSources, archive_folders
from ordito.authoring.port_left import LeftOver, left_over, page
from ordito.authoring.port_tree import ported_tree
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument
from ordito.base.paths import leaves_root
from ordito.ensemble.errors import EnsembleError
from ordito.model.catalogue import read_types
from ordito.model.circumstances import Circumstances
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package
from ordito.source.package import Package
from ordito.source.yaml_text import Written
from ordito.syntax.service_template import ServiceFile
from ordito.work.options import HookOptions

MAIN = "service.yaml"
PAGE = "PORTED.md"
OF_ENSEMBLES = frozenset({"ensemble.yaml", ".ordito"})
"""Files by which folders are known in which something is deployed."""
MOST_FILES = 20_000


class PortRequest(msgspec.Struct, frozen=True):
    """The service to write anew, and the folder to make."""

    service: str
    out: str
    fetch: bool = False
    hooks: HookOptions = HookOptions()
    directory: str = "."


class Ported(msgspec.Struct, frozen=True):
    """What was written: the folder, its files, and what of the service TOSCA 1.3 has no equivalent for."""

    directory: str
    files: tuple[str, ...]
    language: str
    left: tuple[LeftOver, ...]
    diagnostics: tuple[Diagnostic, ...]


def port(request: PortRequest) -> Ported:
    """Write a service as one of TOSCA. Nothing is overwritten. Raises ``Refused``, and ``InvalidDocument`` with the
    errors of the service."""
    target = Path(request.out)
    if target.exists():
        raise Refused(
            "exists", f"{target} exists already, and nothing is overwritten", "name another folder with --out"
        )
    diagnostics = Diagnostics()
    package = open_package(request.service, diagnostics, network(request.fetch))
    content = _content(package, request, diagnostics) if package is not None else None
    if package is None or content is None:
        raise InvalidDocument(diagnostics.sorted())
    written = content.lowered
    if written is None or written.language == "" or content.tosca_definitions_version.text.startswith("tosca_"):
        raise Refused(
            "ported",
            f"{request.service} is written in TOSCA already",
            "name a blueprint of Cloudify or a topology of Alien4Cloud",
        )
    found = diagnostics.sorted()
    tree = ported_tree(content, package.name)
    left = (*left_over(tree, content), *_of_findings(found))
    try:
        text, said = Written().text(tree), page(left, content.tosca_definitions_version.text)
        files = _write(target, package, content, text, said)
        _check(str(target))
    except (Refused, InvalidDocument, EnsembleError):
        # It is not whole, and it was not there before.
        shutil.rmtree(target, ignore_errors=True)
        raise
    return Ported(str(target), files, content.tosca_definitions_version.text, left, tuple(found))


def _content(package: Package, request: PortRequest, diagnostics: Diagnostics) -> ServiceFile | None:
    """The service as it is read; None, with the reasons, where it is not valid."""
    package.catalogues = archive_folders(StepSources(request.hooks.catalogs, "", request.directory))
    types = read_types(package, diagnostics)
    if types is None or types.units.entry is None or diagnostics.has_errors:
        return None
    service = resolve_service(package, diagnostics, Circumstances())
    return types.units.entry.content if service is not None else None


def _of_findings(found: list[Diagnostic]) -> Iterator[LeftOver]:
    """What reading has said to have no effect."""
    for one in found:
        yield LeftOver(one.message, str(one.span) if one.span else "", one.hint)


def _write(target: Path, package: Package, content: ServiceFile, service: str, said: str) -> tuple[str, ...]:
    """Write the service, the page, and the files beside it; returns their names."""
    copied = [*_files(package, content)]
    root = posixpath.dirname(package.main) or "."
    named = [posixpath.relpath(file, root) for file in copied]
    if clash := sorted({MAIN, PAGE} & set(named)):
        raise Refused("exists", f"{clash[0]} lies beside {package.main}, and what is written has that name too",
                      "give yours another name, where the service names it too")  # fmt: skip
    try:
        for file, name in zip(copied, named, strict=True):
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with package.tree.open(file) as stream:
                place.write_bytes(stream.read())
            if package.tree.is_executable(file):
                place.chmod(0o755)
        target.mkdir(parents=True, exist_ok=True)
        (target / MAIN).write_text(service, encoding="utf-8")
        (target / PAGE).write_text(said, encoding="utf-8")
    except OSError as error:
        raise cannot_write(str(target), error) from error
    return (MAIN, PAGE, *named)


OF_DEPLOYMENT = frozenset({"ensemble.yaml", "jobs.tsv", "secrets.yaml", "jobs", "artifacts"})
"""What an ensemble keeps beside a service that is deployed in its own folder."""


def _files(package: Package, content: ServiceFile) -> Iterator[str]:
    """The files beside the main file that are no definitions, those of ensembles left out."""
    assert content.lowered is not None
    own = {posixpath.normpath(f) for f in (package.main, *content.lowered.files) if not leaves_root(f)}
    waiting, number = [posixpath.dirname(package.main) or "."], 0
    while waiting:
        folder = waiting.pop(0)
        folders, files = package.tree.entries(folder)
        if not OF_ENSEMBLES.isdisjoint((*folders, *files)):
            if folder != (posixpath.dirname(package.main) or "."):
                continue
            # What is deployed there stays where it is: two ensembles would manage the same.
            folders = [one for one in folders if one not in OF_DEPLOYMENT]
            files = [one for one in files if one not in OF_DEPLOYMENT]
        for name in files:
            file = posixpath.normpath(posixpath.join(folder, name))
            if file not in own and not name.startswith("."):
                number += 1
                if number > MOST_FILES:
                    raise Refused("too-many-files", f"there are more than {MOST_FILES} files beside {package.main}")
                yield file
        waiting += [posixpath.join(folder, f) for f in folders if not f.startswith(".")]


def _check(directory: str) -> None:
    """Read what was written: it is valid, as what it was written from."""
    diagnostics = Diagnostics()
    package = open_package(f"{directory}/{MAIN}", diagnostics, network(fetch=False))
    service = resolve_service(package, diagnostics, Circumstances()) if package is not None else None
    if service is None:
        raise InvalidDocument(diagnostics.sorted())
