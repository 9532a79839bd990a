"""Packages: archives of services that are looked at without an ensemble. What is asked names the archive, which lies in
the directory that the question is about."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from ordito.app.errors import Refused
from ordito.app.requests import GivenInputs
from ordito.authoring.graph import Graph
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.paths import leaves_root
from ordito.base.suggest import nearest
from ordito.model.catalogue import constraint_data, read_types, schema_text
from ordito.model.sensitivity import Marks
from ordito.model.service import Service
from ordito.model.types import Types
from ordito.planning.lossy_steps import check_service
from ordito.results.answer import Asked, UseCase
from ordito.results.explained_type import TypeData, TypePartsData, type_data, type_parts_data
from ordito.results.findings import findings_data
from ordito.results.packaged import PackageFile, PackageInput, PackageNode, PackagePolicy, PackageSummary, PackageType
from ordito.results.picture.topology import TopologyAsked, TopologyData, topology_data
from ordito.results.services import ValidatedData, invalid_data, validated_data
from ordito.results.topology import GraphData, graph_data
from ordito.source.opening import open_package
from ordito.source.package import Package
from ordito.syntax.expressions import as_written

MOST_FILES = 10_000
MOST_TEXT = 4 << 20
"""The longest text of a file that is given, in bytes."""


class PackageAsked(Asked, frozen=True):
    """About an archive."""

    archive: str
    """Its name in the directory."""


class PackageFileAsked(Asked, frozen=True):
    """About a file in an archive."""

    archive: str
    file: str


class PackageGraphAsked(Asked, frozen=True):
    """About the nodes of a service."""

    archive: str
    boxes: int = 0
    """How many nodes at most, 0 for all."""


class PackageTopologyAsked(TopologyAsked, frozen=True, kw_only=True):
    """About the picture of a service."""

    archive: str
    instances: bool = False


class PackageTypeAsked(Asked, frozen=True):
    """About a type that a service can use, or a part of one."""

    archive: str
    name: str
    """The name of the type, possibly followed by the names of parts, joined by dots."""


class PackageValidateAsked(Asked, frozen=True):
    """About whether the service can be deployed with some inputs."""

    archive: str
    inputs: Mapping[str, object] = {}
    """Values, by input."""


SHOWN = "package"
"""How messages call an archive: files in it are ``package:/service.yaml``."""


def _opened(directory: str, archive: str, diagnostics: Diagnostics) -> Package:
    """An archive. Raises ``InvalidDocument``."""
    package = open_package(str(Path(directory, archive)), diagnostics, shown=SHOWN)
    if package is None:
        raise InvalidDocument(diagnostics.sorted())
    return package


def _package(directory: str, asked: PackageAsked) -> PackageSummary:
    diagnostics = Diagnostics()
    return summary_of(_opened(directory, asked.archive, diagnostics), diagnostics)


def summary_of(package: Package, diagnostics: Diagnostics) -> PackageSummary:
    """What is in the files of a service. Raises ``InvalidDocument``."""
    from ordito.app.services.files import check_files
    from ordito.app.services.read import read_package

    with paused_collector():
        read = read_package(package, diagnostics)
        check_files(read, diagnostics, required=False)
        check_service(read.service, diagnostics)
        # Whatever is wrong with types that no template uses, reading the service has said.
        types = read_types(package, Diagnostics())
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    service, about = read.service, package.about
    written = service.metadata.get
    nodes = (PackageNode(n.name, n.type, n.host.target if n.host else "") for n in service.nodes.values())
    return PackageSummary(
        name=written("template_name", ""),
        version=written("template_version", "") or (about.version if about is not None else ""),
        author=written("template_author", "") or (about.author if about is not None else ""),
        description=service.description,
        entry=package.main,
        inputs=tuple(inputs_of(service)),
        outputs=tuple(service.outputs),
        nodes=tuple(nodes),
        types=tuple(_own_types(types)) if types is not None else (),
        workflows=tuple(service.workflows),
        policies=tuple(PackagePolicy(policy.name, policy.type) for policy in service.policies.values()),
        files=tuple(islice(_files(package), MOST_FILES)),
        diagnostics=findings_data(diagnostics.sorted()),
    )


def inputs_of(service: Service) -> Iterator[PackageInput]:
    """The inputs of a service."""
    marks = Marks(service.data_types)
    for one in service.inputs.values():
        is_hidden = marks.of(one) is not None
        yield PackageInput(
            one.name,
            schema_text(one.schema),
            one.required and not one.has_default,
            as_written(one.default) if one.has_default and not is_hidden else None,
            is_hidden,
            one.description,
            () if is_hidden else tuple(map(constraint_data, one.schema.constraints)),
        )


def _own_types(types: Types) -> Iterator[PackageType]:
    for kind, found in types.units.definitions.items():
        for name, definition in found.items():
            if not definition.unit.is_bundled:
                yield PackageType(kind, name)


def _files(package: Package) -> Iterator[str]:
    """The files of an archive, folder by folder."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        folders, files = package.tree.entries(folder)
        yield from (posixpath.join(folder, name) for name in files)
        waiting.extend(posixpath.join(folder, name) for name in reversed(folders))


def _file(directory: str, asked: PackageFileAsked) -> PackageFile:
    return file_in(_opened(directory, asked.archive, Diagnostics()), asked.file, "the package")


def file_in(package: Package, file: str, what: str) -> PackageFile:
    """A file of a service; ``what`` is how messages call it. Raises ``Refused`` if there is none."""
    if leaves_root(file) or not package.tree.is_file(file):
        near = nearest(file, list(islice(_files(package), MOST_FILES)))
        hint = f"did you mean {near[0]}?" if near else ""
        raise Refused("unknown-file", f"{what} has no file {file}", hint)
    with package.tree.open(file) as stream:
        content, rest = stream.read(MOST_TEXT + 1), 0
        while piece := stream.read(1 << 20):
            rest += len(piece)
    size = len(content) + rest
    return PackageFile(file, size, _text(content, size), package.tree.is_executable(file))


def _text(content: bytes, size: int) -> str | None:
    if size > MOST_TEXT or b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _graph(directory: str, asked: PackageGraphAsked) -> GraphData:
    diagnostics = Diagnostics()
    return graph_in(_opened(directory, asked.archive, diagnostics), asked.boxes, diagnostics)


def graph_in(package: Package, most: int, diagnostics: Diagnostics) -> GraphData:
    """The nodes in the files of a service, at most so many (0: all). Raises ``InvalidDocument``."""
    return graph_data(_graph_of(package, most, diagnostics))


def _type(directory: str, asked: PackageTypeAsked) -> TypeData | TypePartsData:
    diagnostics = Diagnostics()
    return type_in(_opened(directory, asked.archive, diagnostics), asked.name, diagnostics)


def type_in(package: Package, name: str, diagnostics: Diagnostics) -> TypeData | TypePartsData:
    """A type that a service can use, explained. Raises ``Refused`` if there is none, and ``InvalidDocument``."""
    from ordito.authoring.explain import ExplainRequest, explain_in

    with paused_collector():
        types = read_types(package, diagnostics)
        if types is None:
            raise InvalidDocument(diagnostics.sorted())
        found = explain_in(types, ExplainRequest(name), diagnostics)
    return type_parts_data(found) if found.path else type_data(found)


def _topology(directory: str, asked: PackageTopologyAsked) -> TopologyData:
    diagnostics = Diagnostics()
    return topology_data(_graph_of(_opened(directory, asked.archive, diagnostics), 0, diagnostics), asked)


def _graph_of(package: Package, most: int, diagnostics: Diagnostics) -> Graph:
    from ordito.app.services.read import read_package
    from ordito.authoring.graph import graph_of

    with paused_collector():
        read = read_package(package, diagnostics)
    return graph_of(read.service, most)


def _validate(directory: str, asked: PackageValidateAsked) -> ValidatedData:
    # What a secret holds is not known here, only that there will be a value.
    from ordito.authoring.validate import ValidateRequest, validate

    known = {n: v for n, v in asked.inputs.items() if not (isinstance(v, dict) and v.keys() == {"secret"})}
    path = str(Path(directory, asked.archive))
    try:
        return validated_data(validate(ValidateRequest(path, GivenInputs(values=known), directory, shown=SHOWN)))
    except InvalidDocument as error:
        return invalid_data(SHOWN, error.diagnostics)


PACKAGE = UseCase("packages show", PackageAsked, (PackageSummary,), _package)
PACKAGE_FILE = UseCase("packages file", PackageFileAsked, (PackageFile,), _file)
PACKAGE_GRAPH = UseCase("packages graph", PackageGraphAsked, (GraphData,), _graph)
PACKAGE_TYPE = UseCase("packages type", PackageTypeAsked, (TypeData, TypePartsData), _type)
PACKAGE_TOPOLOGY = UseCase("packages topology", PackageTopologyAsked, (TopologyData,), _topology)
PACKAGE_VALIDATE = UseCase("packages validate", PackageValidateAsked, (ValidatedData,), _validate)
