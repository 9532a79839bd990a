"""`ordito serve`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
def serve_command(session: Session, home: str | None, listen: str, added: tuple[str, ...], opens: bool) -> ExitCode:
    """Serve ensembles to several people: a web UI, a REST API with live events, users, roles and an audit log.

    HOME is the directory of the server: its settings (server.yaml), database and key. Without it the ensemble of this
    directory is served, and its own .ordito/server is the home. At the first start on this machine it prints a link for
    signing in; other machines are listened to only with users, a public URL and TLS. Ctrl-C stops the server; jobs of
    commands go on."""
    refuse_without_extra()
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
    listening = [*(["--listen", listen] if listen else []), *(["--open"] if opens else [])]
    sys.stdout.flush()
    sys.stderr.flush()
    # The process becomes the server, which knows nothing of commands.
    os.execv(sys.executable, [sys.executable, "-m", "ordito.server", directory, *listening, *words])
