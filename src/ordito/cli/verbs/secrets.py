"""`ordito secrets`: secrets that ensemble.yaml names."""

from __future__ import annotations

import sys

import click

from ordito.app.secrets import (
    KeptSecret,
    checked_secret,
    get_secret,
    is_short,
    read_value,
    remove_secrets,
    set_secret,
)
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import SECRETS_VERBS, VerbGroup
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb
from ordito.results.answer import Asked
from ordito.results.records import SecretSetData, SecretsRemovedData, SecretValueData

secrets_command = VerbGroup("secrets", SECRETS_VERBS, {}, "Keep secrets that ensemble.yaml names: { secret: NAME }.")


NOBODY = "the value cannot be asked for: give it on standard input, or in a file with --file"

ON_COMMAND_LINE = (
    "give the name only; a value is asked for, or read from standard input or --file PATH"
    " (the value may now be in the history of your shell)"
)


@verb("set", named="secrets set")
@click.argument("name")
@click.argument("more", nargs=-1, metavar="")
@click.option("--file", "path", metavar="PATH", help="Take the content of this file, byte for byte.")
def set_command(session: Session, name: str, more: tuple[str, ...], path: str | None) -> ExitCode:
    """Keep a secret under NAME, sealed in secrets.yaml.

    You are asked for its value, which is not shown, or it is read from standard input or from a file. It is never given
    on the command line, which other users of this machine can see. One line break at the end of standard input is not
    part of the value."""
    if more or "=" in name:
        raise click.UsageError(ON_COMMAND_LINE)
    value = read_value(path) if path else _asked(session, name)
    if session.settings.wanted_server:
        kept = _set_there(session, name, value)
    else:
        kept = set_secret(session.settings.directory, name, value)
    if kept.is_short:
        session.warn("it is so short that it is not removed from what operations print")
    session.note(f"{name} is kept" if kept.changed else f"{name} is unchanged")
    session.note(f"in ensemble.yaml write {{ secret: {name} }}")
    session.show(SecretSetData(name, kept.changed))
    return ExitCode.DONE


def _set_there(session: Session, name: str, value: bytes) -> KeptSecret:
    """Keep it at a server, which does not tell whether it had the same value before: whoever may replace secrets could
    find them out by guessing."""
    from ordito.cli.remote import ensemble_of
    from ordito.client.changes import keep_secret

    text = checked_secret(name, value)
    keep_secret(ensemble_of(session.settings, session.verb), name, text)
    return KeptSecret(changed=True, is_short=is_short(text))


def _asked(session: Session, name: str) -> bytes:
    """The value from standard input; on a terminal the typed value is not shown."""
    if sys.stdin is None:
        raise click.UsageError(NOBODY)
    if session.can_ask:
        typed: str = click.prompt(f"value of {name}", hide_input=True, confirmation_prompt=True, err=True)
        return typed.encode("utf-8", "surrogateescape")
    if sys.stdin.isatty():
        raise click.UsageError(NOBODY)
    value: bytes = sys.stdin.buffer.read()
    ending = b"\r\n" if value.endswith(b"\r\n") else b"\n"
    return value.removesuffix(ending)


@verb("get", named="secrets get")
@click.argument("name")
def get_command(session: Session, name: str) -> ExitCode:
    """Show the value of the secret NAME and nothing else, so that a script can use it.

    This needs the key of the ensemble: .ordito/key, or the file that the variable ORDITO_KEY_FILE names."""
    session.show(SecretValueData(name, get_secret(session.settings.directory, name)), _write_value)
    return ExitCode.DONE


def _write_value(found: SecretValueData, channel: Channel) -> None:
    if sys.stdout.isatty():
        channel.line(printable(found.value))
    else:
        channel.write(f"{found.value}\n")


@verb("list", named="secrets list")
def list_command(session: Session) -> ExitCode:
    """List the names of the secrets that this ensemble keeps. Their values are not shown, and no key is needed."""
    from ordito.results.given import SECRETS

    found = session.ask(SECRETS, Asked())
    session.show(found, lambda shown, channel: channel.lines(shown.secrets))
    if not found.secrets and session.writes_text:
        session.note("no secrets are kept here")
        session.next(NextCommand(session.settings.command("secrets", "set", "NAME"), "keep one"))
    return ExitCode.DONE


@verb("rm", named="secrets rm")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def rm_command(session: Session, names: tuple[str, ...]) -> ExitCode:
    """Delete secrets: all that are named, or none if one of them does not exist.

    What was deployed with them keeps them until it is deployed again."""
    if session.settings.wanted_server:
        from ordito.cli.remote import ensemble_of
        from ordito.client.changes import forget_secrets

        forget_secrets(ensemble_of(session.settings, session.verb), names)
    else:
        remove_secrets(session.settings.directory, names)
    session.note(f"deleted: {', '.join(names)}")
    session.show(SecretsRemovedData(tuple(names)))
    return ExitCode.DONE
