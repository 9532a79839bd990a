"""Services: whether they are valid, what is wanted of them, and what was made of their files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from ordito.results.answer import Asked, Result, ResultData, UseCase
from ordito.results.findings import FindingData, findings_data

if TYPE_CHECKING:
    from ordito.app.show_spec import SpecResult
    from ordito.authoring.format import Formatted
    from ordito.authoring.port import Ported
    from ordito.authoring.validate import ValidateResult
    from ordito.base.diagnostics import Diagnostic

# Whether services are valid.


class ArchiveData(msgspec.Struct, frozen=True):
    """What a CSAR says of itself."""

    author: str
    version: str
    meta: Mapping[str, str]
    """The first block of its metadata."""

    further: tuple[Mapping[str, str], ...]
    """The other blocks."""


class ValidatedData(Result, frozen=True, kw_only=True):
    """A service that was checked: of one that is not valid only the findings are known."""

    valid: bool
    service: str
    nodes: int | UnsetType = UNSET
    """How many it has; ``relationships`` likewise."""

    relationships: int | UnsetType = UNSET
    inputs: tuple[str, ...] | UnsetType = UNSET
    outputs: tuple[str, ...] | UnsetType = UNSET
    diagnostics: tuple[FindingData, ...]
    archive: ArchiveData | UnsetType = UNSET
    language: str | UnsetType = UNSET
    """The version of another language than TOSCA that it is written in."""


class ValidatedSeveralData(Result, frozen=True):
    """Several services that were checked."""

    valid: bool
    """Whether all of them are valid."""

    services: tuple[ValidatedData, ...]


def validated_data(result: ValidateResult) -> ValidatedData:
    """A valid service."""
    about = result.about
    archive: ArchiveData | UnsetType = UNSET
    if about is not None:
        archive = ArchiveData(about.author, about.version, dict(about.block), tuple(map(dict, about.further)))
    return ValidatedData(
        valid=True,
        service=result.name,
        nodes=result.nodes,
        relationships=result.relationships,
        inputs=result.inputs,
        outputs=result.outputs,
        diagnostics=findings_data(result.diagnostics),
        archive=archive,
        language=result.language or UNSET,
    )


def invalid_data(service: str, found: Iterable[Diagnostic]) -> ValidatedData:
    """A service that is not valid."""
    return ValidatedData(valid=False, service=service, diagnostics=findings_data(found))


# What is wanted.


class EvaluatedInput(msgspec.Struct, frozen=True):
    """The value of an input, and where it comes from."""

    value: object
    origin: str


class SpecData(ResultData, frozen=True, tag="ordito.spec/1"):
    """The user's part of `ensemble.yaml`, merged and evaluated, without secrets."""

    service: str
    environment: str
    environments: tuple[str, ...]
    """All that there are."""

    inputs: Mapping[str, EvaluatedInput]
    variables: Mapping[str, object]
    """The variables that operations get."""

    lock: str
    files: tuple[str, ...]
    """The files that are merged in."""

    diagnostics: tuple[FindingData, ...]


def spec_data(found: SpecResult) -> SpecData:
    """The user's part."""
    return SpecData(
        found.service,
        found.environment,
        found.environments,
        {name: EvaluatedInput(one.value, one.origin) for name, one in found.inputs.items()},
        found.variables,
        found.lock,
        found.files,
        findings_data(found.found),
    )


# What was made of files.


class MadeFilesData(Result, frozen=True):
    """A folder that was made, and the files in it: a new project, or an archive that was unpacked."""

    directory: str
    files: tuple[str, ...]


class LeftOverData(msgspec.Struct, frozen=True):
    """Something that TOSCA 1.3 has no equivalent for."""

    what: str
    place: str
    """Where it is written, "" where it has no place."""

    instead: str
    """What to do about it."""


class PortedData(ResultData, frozen=True, tag="ordito.port/1"):
    """A service that was written as one of TOSCA."""

    directory: str
    files: tuple[str, ...]
    language: str
    """The version of the language that it was written in."""

    left: tuple[LeftOverData, ...]


def ported_data(made: Ported) -> PortedData:
    """What was written."""
    left = tuple(LeftOverData(one.what, one.place, one.instead) for one in made.left)
    return PortedData(made.directory, made.files, made.language, left)


class PackedData(ResultData, frozen=True, tag="ordito.package/1"):
    """A CSAR that was made."""

    archive: str
    sha256: str
    entry: str
    """The entry definitions file in it."""

    files: tuple[str, ...]


class FormattedFileData(msgspec.Struct, frozen=True):
    """A file that was to be formatted."""

    file: str
    changed: bool
    left: str | None
    """Why it is left as it is."""


class FormattedData(ResultData, frozen=True, tag="ordito.fmt/1"):
    """Files that were formatted, or would be."""

    written: bool
    files: tuple[FormattedFileData, ...]
    diagnostics: tuple[FindingData, ...]


class CompletionData(ResultData, frozen=True, tag="ordito.completion/1"):
    """The script with which a shell completes words."""

    shell: str
    script: str


def formatted_data(made: Formatted, *, written: bool) -> FormattedData:
    """Files that were formatted, or would be."""
    files = tuple(FormattedFileData(file.path, file.changed, file.reason or None) for file in made.files)
    return FormattedData(written, files, findings_data(made.diagnostics))


class SpecAsked(Asked, frozen=True):
    """About the user's part of the ensemble."""

    environment: str | None = None
    """The environment, null for that of the ensemble."""


def _spec(directory: str, asked: SpecAsked) -> SpecData:
    from ordito.app.show_spec import SpecRequest, show_spec

    return spec_data(show_spec(SpecRequest(directory, asked.environment)))


SPEC = UseCase("spec", SpecAsked, (SpecData,), _spec)
