"""The verbs for authors of templates that write a document: formatted, as schema, compiled, packed, put together."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ordito.app.requests import ChoiceOptions, DeployRequest
from ordito.base.diagnostics import Severity
from ordito.cli.channel import Channel, write_columns
from ordito.cli.delivery import deliver, out_option
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text
from ordito.cli.progress.lines import plural
from ordito.cli.progress.report import NextCommand
from ordito.cli.request_options import group, single
from ordito.cli.session import Session
from ordito.cli.settings import Format
from ordito.cli.text_width import printable
from ordito.cli.verb import verb
from ordito.work.options import HookOptions

if TYPE_CHECKING:
    from ordito.authoring.format import Formatted, FormattedFile
    from ordito.results.services import PortedData, SpecData


@verb("fmt")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; end with 3 if a file is not formatted.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@single(DeployRequest, "fetch")
def fmt_command(session: Session, paths: tuple[str, ...], *, check: bool, diff: bool, fetch: bool) -> ExitCode:
    """Format service templates in place: each PATH is a file, or a folder with files (default: the current one).

    Indentation and empty lines become the usual ones; every line keeps its text and its place, comments stay with what
    they describe, and the meaning never changes. Line ends become those of Unix: CRLF becomes LF. A file is left
    unchanged if it has errors, has several names (hard links), or is written by somebody else meanwhile."""
    from ordito.authoring.format import FormatRequest, format_files
    from ordito.results.services import formatted_data

    write = not (check or diff)
    made = format_files(FormatRequest(paths or (".",), write, fetch))
    session.diagnostics(made.diagnostics)
    for file in made.files:
        if file.reason:
            session.warn(f"{file.path} is not changed: {file.reason}")
    # What was written before is not part of the result: a difference is shown from the files themselves.
    session.show(
        formatted_data(made, written=write), lambda _, channel: _write_formatted(made, channel, check=check, diff=diff)
    )
    refused = made.diagnostics or (check and any(file.changed for file in made.files))
    return ExitCode.REFUSED if refused else ExitCode.DONE


def _write_formatted(made: Formatted, channel: Channel, *, check: bool, diff: bool) -> None:
    changed = [file for file in made.files if file.changed]
    if diff:
        for file in changed:
            for line in _difference(file):
                channel.line(_painted(line, channel))
        return
    for file in changed:
        channel.line(f"{'would be formatted' if check else 'formatted'}: {file.path}")
    if not changed:
        left = sum(bool(file.reason) for file in made.files)
        seen = f"nothing to format in {plural(len(made.files) - left, 'file')}"
        channel.line(f"{seen}; {plural(left, 'file')} left as {'they are' if left > 1 else 'it is'}" if left else seen)


def _difference(file: FormattedFile) -> Iterator[str]:
    before, after = file.before.splitlines(), file.after.splitlines()
    return difflib.unified_diff(before, after, file.path, f"{file.path} (formatted)", lineterm="")


def _painted(line: str, channel: Channel) -> str:
    from ordito.cli.text_width import printable

    style = {"+": "good", "-": "bad", "@": "faint"}.get(line[:1])
    return channel.paint(style, printable(line)) if style else printable(line)


SERVICE, ENSEMBLE, HOSTS = "service", "ensemble", "hosts"
OF = (SERVICE, ENSEMBLE, HOSTS)


@verb("schema", formats=(Format.TEXT, Format.JSON))
@click.argument("service", required=False)
@click.option("--of", type=click.Choice(OF), default=SERVICE, help="The kind of file (default: service templates).")
@out_option
@single(DeployRequest, "fetch")
def schema_command(session: Session, service: str | None, of: str, out: str, *, fetch: bool) -> ExitCode:
    """Write a JSON Schema (2020-12) for service templates with the types of SERVICE, or only with those of TOSCA. With
    --of, one for `ensemble.yaml` or for an inventory such as `hosts.yaml`.

    An editor that knows JSON Schema for YAML completes and checks templates with it, types of your own included. Name
    it in the first line of a template, as in: # yaml-language-server: $schema=tosca.schema.json"""
    from ordito.authoring.schema import json_schema

    if of != SERVICE:
        if service is not None:
            raise click.UsageError(f"the schema of {of} is the same for every service: leave out {service}")
        return _deliver(session, _of(of), out, ())
    made = json_schema(service or "", fetch=fetch)
    errors = sum(d.severity is Severity.ERROR for d in made.diagnostics)
    if errors:
        session.note(f"{service} is not valid ({plural(errors, 'error')}); the schema holds what can be read")
    return _deliver(session, made.schema, out, made.sources)


def _of(kind: str) -> dict[str, Any]:
    from ordito.authoring.schema_of_files import ensemble_schema, hosts_schema

    return ensemble_schema() if kind == ENSEMBLE else hosts_schema()


def _deliver(session: Session, schema: dict[str, Any], out: str, sources: tuple[str, ...]) -> ExitCode:
    if session.stream is not None:
        session.stream.say("result", {"result": schema})
        return ExitCode.DONE
    return deliver(session, (json.dumps(schema, indent=1, ensure_ascii=True) + "\n").encode("utf-8"), out, sources)


@verb("compile")
@click.argument("service", required=False)
@click.option("--positions", is_flag=True, help="Add where each part is written, as file:line:column.")
@click.option("--values-only", is_flag=True, help="Leave out what types say about properties and attributes.")
@out_option
@single(DeployRequest, "fetch")
@group(ChoiceOptions, "choices")
@group(HookOptions, "hooks", without=("which", "strict"))
def compile_command(  # noqa: PLR0913  (one for each option)
    session: Session,
    service: str | None,
    out: str,
    *,
    positions: bool,
    values_only: bool,
    fetch: bool,
    choices: ChoiceOptions,
    hooks: HookOptions,
) -> ExitCode:
    """Write the resolved model of SERVICE as JSON, or with -o yaml as YAML.

    Every type is flattened, every name is complete, every default is filled in and every requirement has its target;
    only what the running system knows remains a function call. The same service always gives the same bytes. The fields
    are described in docs/compiled.md."""

    from ordito.app.services.compiled import CompileRequest, compile_service

    directory = session.settings.directory
    request = CompileRequest(service or "", directory, positions, values_only, fetch, choices, hooks)
    compiled = compile_service(request)
    session.diagnostics(compiled.diagnostics)
    if session.stream is not None:
        session.stream.say("result", {"result": compiled.data})
        return ExitCode.DONE
    if session.settings.output is Format.YAML:
        from ordito.ensemble.yaml_writer import block

        return deliver(session, "".join(block(compiled.data)).encode("utf-8"), out, compiled.sources)
    return deliver(
        session, msgspec.json.format(msgspec.json.encode(compiled.data), indent=2) + b"\n", out, compiled.sources
    )


@verb("package")
@click.argument("service", metavar="[DIR]", default=".")
@click.option("--out", metavar="FILE", default="", help="The archive to make (default: DIR.csar).")
@click.option(
    "--other",
    "others",
    metavar="FILE",
    multiple=True,
    help="A definitions file below DIR for substitution; may be repeated.",
)
@click.option("--created-by", metavar="NAME", default="", help="Its author (default: the template_author).")
@click.option("--only-named", is_flag=True, help="Leave out files that the service does not name.")
@single(DeployRequest, "fetch")
@group(ChoiceOptions, "choices")
@group(HookOptions, "hooks", without=("which", "strict"))
def package_command(  # noqa: PLR0913  (one for each option)
    session: Session,
    service: str,
    out: str,
    others: tuple[str, ...],
    created_by: str,
    *,
    only_named: bool,
    fetch: bool,
    choices: ChoiceOptions,
    hooks: HookOptions,
) -> ExitCode:
    """Pack DIR, which holds a service template, into an archive (CSAR). Without DIR the current folder is packed.

    The service is checked first, as strictly as for a deployment, and the archive is read again before it is put in its
    place. All files below DIR are packed, except hidden ones, ensembles with their secrets, keys, inputs.yaml and
    hosts.yaml, and other archives. DIR may also be a definitions file: then its folder is packed, with that file as its
    entry. The blocks of lifecycle steps are packed too, wherever they are. The same files make the same archive."""
    from ordito.authoring.package import PackageRequest, package
    from ordito.results.services import PackedData

    made = package(PackageRequest(service, out, others, created_by, only_named, fetch, choices, hooks))
    session.diagnostics(made.diagnostics)
    found = PackedData(made.archive, made.sha256, made.entry, tuple(made.files))
    session.show(
        found, lambda one, channel: channel.line(f"packed {plural(len(one.files), 'file')} into {one.archive}")
    )
    session.next(NextCommand(session.settings.command("deploy", made.archive), "deploy it, here or elsewhere"))
    return ExitCode.DONE


@verb("unpackage")
@click.argument("archive")
@click.option("--out", metavar="DIR", default="", help="The folder to make (default: the archive's name).")
def unpackage_command(session: Session, archive: str, out: str) -> ExitCode:
    """Unpack ARCHIVE (a CSAR) into a folder of its own.

    Nothing is overwritten, and an archive with unsafe content is refused as a whole."""
    from ordito.authoring.package import UnpackageRequest, unpackage
    from ordito.results.services import MadeFilesData

    made = unpackage(UnpackageRequest(archive, out))
    found = MadeFilesData(made.directory, tuple(made.files))
    session.show(
        found, lambda one, channel: channel.line(f"unpacked {plural(len(one.files), 'file')} into {one.directory}")
    )
    return ExitCode.DONE


@verb("port")
@click.argument("service")
@click.option("--out", metavar="DIR", required=True, help="The folder to make.")
@single(HookOptions, "catalogs")
@single(DeployRequest, "fetch")
def port_command(session: Session, service: str, out: str, catalogs: tuple[str, ...], *, fetch: bool) -> ExitCode:
    """Write a blueprint of Cloudify, or a topology of Alien4Cloud, as a service of TOSCA 1.3.

    SERVICE is its file, folder or archive. What is written validates, and gives the same plan; comments are kept where
    they stand at something that is written, and files beside the service are copied. PORTED.md lists what TOSCA 1.3
    has no equivalent for, and what to do about it. Nothing is overwritten."""
    from ordito.authoring.port import PortRequest, port
    from ordito.results.services import ported_data

    made = port(PortRequest(service, out, fetch, HookOptions(catalogs=tuple(catalogs))))
    session.show(ported_data(made), _write_ported)
    return ExitCode.DONE


def _write_ported(found: PortedData, channel: Channel) -> None:
    channel.line(f"wrote {found.directory}/service.yaml, and {plural(len(found.files) - 1, 'file')} beside it")
    if found.left:
        channel.line("What TOSCA 1.3 has no equivalent for is in PORTED.md:")
    for one in found.left:
        channel.line(f"  {one.what}{f' ({one.place})' if one.place else ''}")


@verb("spec")
@click.option("--text", "as_written", is_flag=True, help="Show your part as it is written instead.")
@click.option("--set", "file", metavar="FILE", help="Replace your part by the text in this file (- to read it).")
def spec_command(session: Session, file: str | None, *, as_written: bool) -> ExitCode:
    """Show the result of your part of ensemble.yaml: merged, evaluated, for the current environment.

    Secrets are not shown. With --set your part is checked and replaced as a whole; with errors nothing is changed."""
    from ordito.cli.given_texts import replace_text, show_text
    from ordito.results.given import SPEC_SET, SPEC_TEXT

    if as_written and file is not None:
        raise click.UsageError("--text and --set exclude each other")
    if as_written:
        return show_text(session, SPEC_TEXT)
    if file is not None:
        return replace_text(session, SPEC_TEXT, SPEC_SET, file, "your part of ensemble.yaml")
    return _show_spec(session)


def _show_spec(session: Session) -> ExitCode:
    from ordito.app.show_spec import SpecRequest, show_spec
    from ordito.results.findings import diagnostic_of
    from ordito.results.services import SPEC, SpecAsked, spec_data

    settings = session.settings
    if settings.wanted_server:
        shown = session.ask(SPEC, SpecAsked(settings.wanted_environment))
        diagnostics = tuple(map(diagnostic_of, shown.diagnostics))
    else:
        # Here the text of the files is at hand, and is shown with what is found in them.
        found = show_spec(SpecRequest(settings.directory, settings.wanted_environment))
        shown, diagnostics = spec_data(found), found.found
    session.diagnostics(diagnostics)
    session.show(shown, _write_spec)
    failed = any(d.severity is Severity.ERROR for d in diagnostics)
    return ExitCode.REFUSED if failed else ExitCode.DONE


def _write_spec(found: SpecData, channel: Channel) -> None:
    channel.line(f"service      {printable(found.service or 'none is named')}")
    others = [name for name in found.environments if name != found.environment]
    also = f"  (there are also: {', '.join(others)})" if others else ""
    channel.line(f"environment  {printable((found.environment or 'none') + also)}")
    channel.line(f"lock         {found.lock}")
    for file in found.files:
        channel.line(f"merged in    {printable(file)}")
    if found.inputs:
        rows = [(name, as_text(value.value), value.origin) for name, value in found.inputs.items()]
        write_columns(("INPUT", "VALUE", "FROM"), rows, channel)
    if found.variables:
        write_columns(("VARIABLE", "VALUE"), [(n, as_text(v)) for n, v in found.variables.items()], channel)
