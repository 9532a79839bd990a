"""`ordito serve`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from ordito.app.errors import Refused
from ordito.app.place import place_of
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.cli.verbs.server import refuse_without_extra

PLACE = Path(".ordito") / "server"


@verb("serve")
@click.argument("home", required=False)
@click.option("--listen", metavar="ADDRESS:PORT", default="", help="Where to listen, instead of what server.yaml says.")
@click.option("--add", "added", metavar="DIR", multiple=True, help="Serve this ensemble too; may be repeated.")
@click.option("--open", "opens", is_flag=True, help="Open the web UI in the browser of this machine.")
@click.option("--workers", type=click.IntRange(0, 64), default=0, help="With --store: so many workers of its own.")
def serve_command(
    session: Session, home: str | None, listen: str, added: tuple[str, ...], opens: bool, workers: int
) -> ExitCode:
    """Serve ensembles to several people: a web UI, a REST API with live events, users, roles and an audit log.

    HOME is the directory of the server: its settings (server.yaml), database and key. Without it the ensemble of this
    directory is served, and its own .ordito/server is the home. At the first start on this machine it prints a link for
    signing in; other machines are listened to only with users, a public URL and TLS. Ctrl-C stops the server; jobs of
    commands go on.

    With --store it serves the ensembles of a store, whose workers carry out what is asked for; any number of servers
    may do so at one time."""
    refuse_without_extra()
    over = _over_store(session, workers)
    if over:
        if home is None or added:
            raise click.UsageError("with --store, name a directory for the server, and no ensembles")
        _become_server([home, *_listening(listen, opens=opens), *over])
    place = place_of(session.settings.directory)
    own = [str(place.layout.root)] if place.layout.exists and home is None else []
    if home is None and not own:
        raise Refused(
            "no-ensemble",
            f"{place.shown} is no ensemble, and no home is named",
            "name a directory for the server, as in `ordito serve ./server`, or call it in an ensemble",
        )
    directory = home if home is not None else str(place.layout.root / PLACE)
    words = [word for path in (*own, *added) for word in ("--ensemble", path)]
    _become_server([directory, *_listening(listen, opens=opens), *words])


def _listening(listen: str, *, opens: bool) -> list[str]:
    return [*(["--listen", listen] if listen else []), *(["--open"] if opens else [])]


def _become_server(words: list[str]) -> NoReturn:
    """The process becomes the server, which knows nothing of commands."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-m", "ordito.server", *words])


def _over_store(session: Session, workers: int) -> list[str]:
    """What the server is told of a store, nothing where none is named."""
    settings = session.settings
    if not settings.store and not settings.store_file:
        if workers:
            raise click.UsageError("--workers needs --store or --store-file")
        return []
    from ordito.app.stores import refuse_without_extra as refuse_without_store

    refuse_without_store()
    named = {"--store": settings.store, "--store-file": settings.store_file, "--key": settings.key}
    words = [word for option, value in named.items() if value for word in (option, value)]
    return [*words, "--workers", str(workers)]
