"""`ordito validate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import UNSET

from ordito.app.requests import ChoiceOptions, DeployRequest, GivenInputs
from ordito.base.diagnostics import Diagnostic, InvalidDocument
from ordito.base.json_text import json_text
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.lines import plural
from ordito.cli.request_options import group, single
from ordito.cli.session import Session
from ordito.cli.settings import COMMON_FORMATS, Format
from ordito.cli.verb import verb
from ordito.results.findings import total
from ordito.work.options import HookOptions

if TYPE_CHECKING:
    from ordito.authoring.validate import ValidateRequest, ValidateResult
    from ordito.results.services import ValidatedData, ValidatedSeveralData


class _Checked(msgspec.Struct, frozen=True):
    """The result of checking one service: a ``result`` if it is valid."""

    service: str
    result: ValidateResult | None
    diagnostics: list[Diagnostic]


@verb("validate", takes_inputs=True, formats=(*COMMON_FORMATS, Format.GITHUB, Format.SARIF))
@click.argument("services", metavar="[SERVICE]...", nargs=-1)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@single(DeployRequest, "fetch")
@group(ChoiceOptions, "choices")
@group(HookOptions, "hooks", without=("which", "strict"))
def validate_command(
    session: Session,
    services: tuple[str, ...],
    inputs: GivenInputs,
    *,
    strict: bool,
    fetch: bool,
    choices: ChoiceOptions,
    hooks: HookOptions,
) -> ExitCode:
    """Check each SERVICE (a definitions file, a folder that holds one, or a CSAR) and the inputs given with it.

    Without SERVICE, the service of the ensemble is checked; without an ensemble, the one in the current directory.
    Nothing is changed, and no ensemble is needed. `ordito explain CODE` says more about a finding."""
    from ordito.authoring.validate import ValidateRequest, validate
    from ordito.results.services import validated_data

    if len(services) > 1 and (hooks.lifecycle or not inputs.is_empty):
        what = "lifecycle steps" if hooks.lifecycle else "inputs"
        raise click.UsageError(f"{what} belong to one service: check the services one by one")
    usual = ValidateRequest(
        inputs=inputs,
        directory=session.settings.directory,
        strict=strict,
        fetch=fetch,
        choices=choices,
        environment=session.settings.wanted_environment,
        hosts=session.settings.hosts,
        hooks=hooks,
    )
    for_tools = session.stream is None and session.settings.output in {Format.GITHUB, Format.SARIF}
    if len(services) > 1 or for_tools:
        checked = [_check(msgspec.structs.replace(usual, service=s)) for s in services or ("",)]
        code = ExitCode.DONE if all(c.result is not None for c in checked) else ExitCode.REFUSED
        if for_tools:
            _for_tools(session, [d for c in checked for d in c.diagnostics], code)
        else:
            _several(session, checked, code)
        return code
    result = validate(msgspec.structs.replace(usual, service=services[0] if services else ""))
    if session.stream is not None or session.writes_text:
        session.diagnostics(result.diagnostics)
    session.show(validated_data(result), _text)
    return ExitCode.DONE


def _check(request: ValidateRequest) -> _Checked:
    from ordito.authoring.validate import validate

    try:
        result = validate(request)
    except InvalidDocument as error:
        return _Checked(request.service, None, error.diagnostics)
    return _Checked(request.service, result, list(result.diagnostics))


def _several(session: Session, checked: list[_Checked], code: ExitCode) -> None:
    """Show the findings of several services, then a line for each service."""
    from ordito.cli.finding_formats import distinct
    from ordito.results.services import ValidatedSeveralData, invalid_data, validated_data

    if session.stream is not None or session.writes_text:
        session.diagnostics(distinct(d for c in checked for d in c.diagnostics))
    services = [
        validated_data(c.result) if c.result is not None else invalid_data(c.service, c.diagnostics) for c in checked
    ]
    session.show(ValidatedSeveralData(code is ExitCode.DONE, tuple(services)), _texts)


def _texts(found: ValidatedSeveralData, channel: Channel) -> None:
    for one in found.services:
        if one.valid:
            _text(one, channel)
        else:
            channel.line(f"{one.service} is not valid: {total(one.diagnostics)}")


def _for_tools(session: Session, found: list[Diagnostic], code: ExitCode) -> None:
    from ordito.cli.finding_formats import annotation_lines, distinct, sarif

    if session.settings.output is Format.GITHUB:
        for line in annotation_lines(distinct(found)):
            session.out.line(line)
    else:
        session.out.write(json_text(sarif(distinct(found), exit_code=code), indent=2, ascii_only=True) + "\n")


def _text(found: ValidatedData, channel: Channel) -> None:
    assert found.nodes is not UNSET
    assert found.relationships is not UNSET
    what = f"{plural(found.nodes, 'node')}, {plural(found.relationships, 'relationship')}"
    language = f" ({found.language})" if found.language is not UNSET else ""
    channel.line(f"{found.service} is valid{language}: {what}")
