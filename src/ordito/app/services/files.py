"""The files that the definitions and artifacts of a service name, and whether they can be used."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from ordito.app.services.read import ReadService
from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import leaves_root
from ordito.model.artifacts import CONTAINER_IMAGE
from ordito.model.operation import Artifact, Interface, Notification, Operation
from ordito.model.service import NodeTemplate, Relationship, Service
from ordito.source.package import Package
from ordito.source.remote import ARTIFACTS, FetchFailed, NotAllowed
from ordito.syntax.expressions import Value, calls
from ordito.work.given_helpers import given_to

MISSING_FILE = "missing-artifact"
UNUSED = "unused-artifact"
IMPLEMENTATION = "tosca.artifacts.Implementation"


def check_files(read: ReadService, diagnostics: Diagnostics, *, required: bool) -> None:
    """Check the files that artifacts name: problems are errors if the files are ``required``, or the service is a CSAR,
    which must contain everything; else warnings."""
    seen: set[tuple[str, bool]] = set()
    used: frozenset[str] | None = None
    sums: dict[tuple[str, str], str] = {}
    report = diagnostics.error if required or read.package.is_csar else diagnostics.warning
    for artifact in artifacts(read.service):
        if artifact.checksum and not read.package.tree.is_file(artifact.file):
            _warn_of_unverified(artifact, read.package, diagnostics)
        runs = IMPLEMENTATION in artifact.kinds
        if names_image(artifact, read.package):
            continue
        if (artifact.file, runs) not in seen:
            seen.add((artifact.file, runs))
            problem, hint = _problem(artifact, read.package, runs=runs)
            if problem and required:
                used = _used(read.service) if used is None else used
            if problem and used is not None and not (artifact.deploy_path or artifact.file in used):
                problem = f"{problem}; no operation runs or uses it"
                diagnostics.objection(UNUSED, problem, artifact.span, hint="remove the artifact, or add its file")
            elif problem:
                report(MISSING_FILE, problem, artifact.span, hint=hint)
        if wrong := _unequal(artifact, read.package, sums):
            report("wrong-checksum", wrong, artifact.span, hint=RIGHT_FILE)


RIGHT_FILE = "get the right file; if this is the right one, write its checksum"


def _unequal(artifact: Artifact, package: Package, sums: dict[tuple[str, str], str]) -> str:
    """The problem with the checksum of a file, "" for none; ``sums`` caches checksums."""
    if not (artifact.checksum and artifact.checksum_algorithm and package.tree.is_file(artifact.file)):
        return ""
    key = artifact.file, artifact.checksum_algorithm
    if key not in sums:
        sums[key] = _checksum(package, *key)
    if sums[key] == artifact.checksum.strip().lower():
        return ""
    return (
        f"{package.shown(artifact.file)} is not the expected file: its {key[1]} checksum is "
        f"{sums[key]}, not {artifact.checksum}"
    )


def _used(service: Service) -> frozenset[str]:
    """The files of artifacts that operations and workflows run or need, and that values refer to."""
    found = {artifact.file for artifact in _run(service)}
    holders: list[NodeTemplate | Relationship] = []
    for node in service.nodes.values():
        holders += (node, *node.requirements)
    operations = (o for h in holders for i in h.interfaces.values() for o in i.operations.values())
    values: list[Value] = [i.value for o in operations for i in o.inputs.values()]
    values += [v for h in holders for v in (*h.properties.values(), *h.attributes.values())]
    values += [v for n in service.nodes.values() for c in n.capabilities.values() for v in c.properties.values()]
    values += [output.value for output in service.outputs.values()]
    asked = {str(c.arguments[1]) for value in values for c in calls(value) if c.function == "get_artifact"}
    found.update(a.file for h in holders for a in h.artifacts.values() if a.name in asked)
    return frozenset(found)


def _warn_of_unverified(artifact: Artifact, package: Package, diagnostics: Diagnostics) -> None:
    """Warn about the checksum of an artifact that is no file, because it is not verified. A missing file is reported
    elsewhere."""
    is_image = names_image(artifact, package)
    if is_image or package.tree.is_folder(artifact.file):
        what = "the image of a registry" if is_image else "a folder"
        hint = "name the image by its digest, as in nginx@sha256:..." if is_image else "give checksums of files"
        diagnostics.warning(
            "unverified-checksum",
            f"the checksum of {artifact.file} is not verified, since it is {what}",
            artifact.span,
            hint=hint,
        )


def _checksum(package: Package, file: str, algorithm: str) -> str:
    """The checksum of a file, in hexadecimal digits."""
    import hashlib

    found = hashlib.new(algorithm.replace("-", ""), usedforsecurity=False)
    with package.tree.open(file) as stream:
        while block := stream.read(BLOCK):
            found.update(block)
    return found.hexdigest()


BLOCK = 1 << 20


def _problem(artifact: Artifact, package: Package, *, runs: bool) -> tuple[str, str]:
    """Why an artifact's file cannot be used, and what to do; ("", "") if it can."""
    file = artifact.file
    if url := package.tree.url(file):
        return _problem_of_url(url, package)
    if file.startswith("/"):
        return f"{file} is an absolute path, outside of the service", "put the file beside the template"
    if package.is_csar and leaves_root(file):
        return f"{file} leads out of the archive", "paths must stay inside the archive"
    if not package.has(file):
        hint = "paths of artifact files are relative to the file that names them"
        return f"there is no file {package.shown(file)}", hint
    if runs and not package.tree.is_file(file):
        return f"{package.shown(file)} is a folder, and cannot be run", "name a file in it"
    return "", ""


def _problem_of_url(url: str, package: Package) -> tuple[str, str]:
    try:
        package.tree.get(url, ARTIFACTS)
    except NotAllowed as refusal:
        return refusal.message, refusal.hint
    except FetchFailed as failure:
        return f"cannot fetch {url}: {failure.message}", failure.hint
    return "", ""


def names_image(artifact: Artifact, package: Package) -> bool:
    """Whether an artifact names an image of a registry, which is no file of the service."""
    return CONTAINER_IMAGE in artifact.kinds and (bool(artifact.repository) or not package.has(artifact.file))


def artifacts(service: Service) -> Iterator[Artifact]:
    """Every artifact of a service: those of nodes and relationships, and those that operations and workflows run or
    need."""
    for node in service.nodes.values():
        yield from node.artifacts.values()
        for relationship in node.requirements:
            yield from relationship.artifacts.values()
    yield from _run(service)


def _run(service: Service) -> Iterator[Artifact]:
    """The artifacts that operations and workflows run or need."""
    seen: set[int] = set()
    for node in service.nodes.values():
        owners: tuple[NodeTemplate | Relationship, ...] = (node, *node.requirements)
        for owner in owners:
            # Templates of one type that change nothing share its interfaces.
            if id(owner.interfaces) not in seen:
                seen.add(id(owner.interfaces))
                yield from _of_interfaces(owner.interfaces.values(), seen)
    for workflow in service.workflows.values():
        if workflow.implementation is not None:
            yield from (workflow.implementation, *workflow.dependencies)


def definition_files(read: ReadService) -> Iterator[str]:
    """The definitions files of a service, and the metadata file of an archive."""
    package = read.package
    yield from map(package.stored, read.service.files)
    yield from read.steps.files
    if package.opener != package.main:
        yield from (package.main, *package.others)


def artifact_files(read: ReadService) -> Iterator[str]:
    """The files that a service's artifacts name."""
    package = read.package
    found = list(artifacts(read.service))
    if any(given_to(artifact) is not None for artifact in found):
        # Scripts that have helpers ask them for any file beside the main one.
        yield posixpath.dirname(read.service.main) or "."
    for artifact in found:
        # What is not there was allowed not to be: nothing uses it.
        if not names_image(artifact, package) and (package.tree.url(artifact.file) or package.has(artifact.file)):
            yield artifact.file
    yield from read.steps.scripts
    for paths in read.steps.paths.values():
        yield from paths


def _of_interfaces(interfaces: Iterable[Interface], seen: set[int]) -> Iterator[Artifact]:
    for interface in interfaces:
        # Templates of one type that change nothing share its interfaces.
        if id(interface) in seen:
            continue
        seen.add(id(interface))
        parts: list[Operation | Notification] = [*interface.operations.values(), *interface.notifications.values()]
        for part in parts:
            if part.implementation is not None:
                yield part.implementation
            yield from part.dependencies
