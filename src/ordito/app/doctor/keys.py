"""What this user has for SSH: keys and an agent. Nothing of a key is read but that it is there, and
who else may read it."""

from __future__ import annotations

import os
import shlex
import socket
from pathlib import Path

from ordito.app.doctor.finding import BROKEN, LOOK, MACHINE, MISSING, OK, Finding
from ordito.app.open_keys import is_open

SECONDS = 2.0
KEYS = "logging in to hosts without a password"


def find_keys() -> tuple[Finding, ...]:
    """The keys at their usual places, and the agent that the environment names."""
    return _keys(Path.home() / ".ssh"), _agent(os.environ.get("SSH_AUTH_SOCK", ""))


def _keys(folder: Path) -> Finding:
    try:
        names = sorted(path.stem for path in folder.glob("id_*.pub") if path.with_suffix("").is_file())
    except OSError as error:
        return Finding(MACHINE, "SSH keys", BROKEN, error.strerror or "", KEYS, f"look at {folder}")
    if not names:
        return Finding(MACHINE, "SSH keys", MISSING, "", KEYS, "ssh-keygen -t ed25519, or name one in hosts.yaml")
    opened = [str(folder / name) for name in names if is_open(folder / name)]
    if opened:
        others = f"others may read {', '.join(opened)}, and ssh refuses such a key"
        return Finding(MACHINE, "SSH keys", LOOK, others, KEYS, f"chmod 600 {shlex.join(opened)}")
    return Finding(MACHINE, "SSH keys", OK, ", ".join(names), KEYS)


def _agent(place: str) -> Finding:
    purpose = "keys with a passphrase"
    if not place:
        return Finding(MACHINE, "SSH agent", MISSING, "", purpose, 'eval "$(ssh-agent)" && ssh-add')
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(SECONDS)
            client.connect(place)
    except OSError as error:
        cure = 'start another one: eval "$(ssh-agent)" && ssh-add'
        return Finding(MACHINE, "SSH agent", BROKEN, f"{place}: {error.strerror}", purpose, cure)
    return Finding(MACHINE, "SSH agent", OK, "answers", purpose)
