"""`ordito completion`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Print the script by which a shell completes words of `ordito`: verbs, options, files, and the names of nodes,
instances, jobs, hosts, outputs, secrets and blocks.

Bash reads it from ~/.local/share/bash-completion/completions/ordito, where the package bash-completion is there; zsh
from a file _ordito in a folder of $fpath; fish from ~/.config/fish/completions/ordito.fish."""


@verb("completion", HELP)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(session: Session, shell: str) -> ExitCode:
    """Print the script."""
    from ordito.cli.completion import script

    text = script(shell)
    session.result({"shell": shell, "script": text}, lambda channel: channel.write(text))
    return ExitCode.DONE
