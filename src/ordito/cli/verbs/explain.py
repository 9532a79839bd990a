"""`ordito explain`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ordito.app.errors import Refused
from ordito.app.requests import DeployRequest
from ordito.base.diagnostics import Severity
from ordito.base.suggest import nearest
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.lines import plural
from ordito.cli.request_options import single
from ordito.cli.service_there import is_there, service_there
from ordito.cli.session import Session
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.authoring.explain import ExplainRequest
    from ordito.results.explained import CodeData, EntityData, FunctionData, WordData
    from ordito.results.pages import Page


KINDS = ("node", "relationship", "capability", "data", "interface", "artifact", "group", "policy")


@verb("explain")
@click.argument("word")
@click.option(
    "-s",
    "--service",
    metavar="SERVICE",
    default="",
    help="Include the types of this service, or of a package of the server.",
)
@click.option("--kind", type=click.Choice(KINDS), default=None, help="Which kind of type, if there are several.")
@single(DeployRequest, "fetch")
def explain_command(session: Session, word: str, service: str, kind: str | None, *, fetch: bool) -> ExitCode:
    """Explain WORD: a type of any kind, such as Compute; an entity of the language, such as node_template; a function,
    such as get_input; any other word of the language, such as in_range, SELF or occurrences; a setting, such as
    ordito.protected; or the code of a finding or an error, such as bad-value or locked.

    Of a type it shows everything that the type has, inherited parts included, and where each part is declared and
    refined; names of parts follow the type, as in Compute.host.num_cpus. Of an entity it shows the keynames; of a
    function, how it is written; of a code, what it means, an example document if there is one, and what to do.

    With a server and -e, types are those of the service that is deployed there."""
    from ordito.authoring.explain import ExplainRequest
    from ordito.authoring.explain_words import explain_function, explain_word
    from ordito.authoring.keynames import explain_entity
    from ordito.results.explained import entity_data, function_data, word_data
    from ordito.results.pages import read_page

    page = read_page(word) if not service and kind is None else None
    if page is not None:
        session.show(_code(page), _text)
        return ExitCode.DONE
    function = explain_function(word) if not service and kind is None else None
    if function is not None:
        session.show(function_data(function), _function)
        return ExitCode.DONE
    known = explain_word(word) if not service and kind is None else None
    if known is not None:
        session.show(word_data(known), _word)
        return ExitCode.DONE
    entity = explain_entity(word) if not service and kind is None else None
    if entity is not None:
        session.show(entity_data(entity), _keynames)
        return ExitCode.DONE
    if is_there(session, service):
        return _explain_there(session, word, service, kind)
    return _explain_type(session, ExplainRequest(word, service, kind or "", fetch))


def _explain_there(session: Session, word: str, service: str, kind: str | None) -> ExitCode:
    """Explain a type of what is deployed at a server, or of a package there."""
    from ordito.cli.type_view import write_explained
    from ordito.client.connection import in_path
    from ordito.client.looks import read_as
    from ordito.results.packages import PACKAGE_TYPE

    if kind is not None:
        hint = "leave it out: the name of a type, with its prefix if it has one, says enough"
        raise Refused("local-only", "--kind is for services of this machine", hint)
    connection, path = service_there(session, service)
    answer = connection.ask("GET", f"{path}/types/{in_path(word)}")
    session.show(read_as(connection, PACKAGE_TYPE, answer.body), write_explained)
    return ExitCode.DONE


def _explain_type(session: Session, request: ExplainRequest) -> ExitCode:
    from ordito.authoring.explain import explain
    from ordito.authoring.explain_words import explain_keyname
    from ordito.cli.type_view import write_explained
    from ordito.results.explained import word_data
    from ordito.results.explained_type import type_data, type_parts_data

    try:
        found = explain(request)
    except Refused as refusal:
        keyname = explain_keyname(request.words) if not request.kind else None
        if keyname is not None:
            session.show(word_data(keyname), _word)
            return ExitCode.DONE
        raise _with_codes(refusal, request.words) from None
    errors = sum(d.severity is Severity.ERROR for d in found.diagnostics)
    if errors:
        session.note(f"{request.service} is not valid ({plural(errors, 'error')}); this is what can be read")
    session.show(type_parts_data(found) if found.path else type_data(found), write_explained)
    return ExitCode.DONE


def _with_codes(refusal: Refused, word: str) -> Refused:
    """A refusal that also names similar codes or entities."""
    from ordito.authoring.explain_words import word_names
    from ordito.authoring.keynames import entity_names, keyname_names
    from ordito.results.pages import page_codes, read_page
    from ordito.syntax.functions import FUNCTIONS

    entities = entity_names()
    near = nearest(word, [*page_codes(), *entities, *FUNCTIONS, *word_names(), *keyname_names()])
    if refusal.code != "unknown-type":
        return refusal
    if not near:
        return refusal
    page = read_page(near[0])
    what = page.kind if page is not None else "function" if near[0] in FUNCTIONS else "word"
    what = "entity" if near[0] in entities else what
    hint = f'did you mean the {what} "{near[0]}"? {refusal.hint[:1].upper()}{refusal.hint[1:]}'
    return Refused(refusal.code, refusal.message, hint)


def _function(function: FunctionData, channel: Channel) -> None:
    channel.line(f"{channel.paint('strong', function.name)}: {function.description}")
    channel.line()
    for usage in function.usage:
        channel.line(f"  {channel.paint('good', usage)}")
    channel.line()
    gives = f"a {function.gives}" if function.gives else "a value of the type of what it names"
    for note in (f"It gives {gives}.", *function.notes):
        _paragraph(note, channel)


def _word(word: WordData, channel: Channel) -> None:
    channel.line(f"{channel.paint('strong', word.name)} ({word.kind})")
    _paragraph(word.description, channel)
    if word.usage:
        channel.line()
        channel.line(f"  {channel.paint('good', word.usage)}")
    longest = max((len(entity) for entity, _ in word.places), default=0)
    for entity, holds in word.places:
        channel.line(f"  {channel.paint('good', entity.ljust(longest))}  {holds}")


def _keynames(entity: EntityData, channel: Channel) -> None:
    channel.line(f"{channel.paint('strong', entity.name)}: {entity.description}")
    if entity.short:
        channel.line(f"A single value instead gives {entity.short}.")
    channel.line()
    longest = max(len(keyname.name) for keyname in entity.keynames)
    for keyname in entity.keynames:
        more = (
            ", required" if keyname.required else f" (deprecated: write {keyname.instead})" if keyname.instead else ""
        )
        channel.line(f"  {channel.paint('good', keyname.name.ljust(longest))}  {keyname.holds}{more}")


def _code(page: Page) -> CodeData:
    from ordito.results.explained import CodeData

    return CodeData(
        page.code,
        page.severity,
        page.title,
        page.text.strip(),
        page.command.strip(),
        page.mend.strip(),
        tuple(page.sections),
        dict(page.example),
        dict(page.mended),
    )


def _text(page: CodeData, channel: Channel) -> None:
    from ordito.results.pages import OF_COMMANDS, explanation

    channel.line(f"{channel.paint(page.severity, f'{page.severity}[{page.code}]')}: {page.title}")
    channel.line()
    _paragraph(explanation(page.text, page.sections), channel)
    if page.command:
        channel.line()
        _paragraph(f"{OF_COMMANDS} {page.command}", channel)
    _documents("For example", page.example, channel)
    channel.line()
    _paragraph(page.mend, channel)
    _documents("Corrected", page.mended, channel)


def _paragraph(text: str, channel: Channel) -> None:
    for line in textwrap.wrap(text, min(channel.width, 100), break_long_words=False, break_on_hyphens=False):
        channel.line(line)


def _documents(title: str, documents: Mapping[str, str], channel: Channel) -> None:
    for name, text in documents.items():
        channel.line()
        channel.line(channel.paint("faint", f"{title}:" if len(documents) == 1 else f"{title}, {name}:"))
        channel.line()
        for line in text.rstrip("\n").split("\n"):
            channel.line(f"    {line}")
