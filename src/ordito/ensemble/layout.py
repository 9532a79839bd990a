"""The paths of all files in an ensemble's directory."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.parse import quote

from ordito.base.change_ids import is_change_id, job_of
from ordito.ensemble.errors import explained
from ordito.source.reach import OWN

MANIFEST = "ensemble.yaml"
HOSTS_FILE = "hosts.yaml"
"""The inventory that an ensemble has by default."""

INBOX = "inbox.db"
PRIVATE = OWN
SHARED_PARTS = 64
"""How many files hold the instances of nodes that have few instances."""


class Layout:
    """The paths of one ensemble; ``root`` is its directory, as an absolute path without ``..``."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.abspath(root))  # noqa: PTH100  (links stay as they are)
        self.manifest = self.root / MANIFEST
        self.status = self.root / "status"
        self.shared = self.status / "few"
        self.jobs = self.root / "jobs"
        self.jobs_tsv = self.root / "jobs.tsv"
        self.artifacts = self.root / "artifacts"
        self.git_attributes = self.root / ".gitattributes"
        self.git_ignore = self.root / ".gitignore"
        self.private = self.root / PRIVATE
        self.journal = self.private / "journal.db"
        self.secrets = self.root / "secrets.yaml"
        self.key = self.private / "key"
        self.lock = self.private / "lock"
        self.door = self.private / "door"
        self.shared_lock = self.private / "shared-lock"
        self.logs = self.private / "logs"
        self.event_files = self.private / "events"
        self.inbox = self.private / INBOX
        self.outline = self.private / "outline"

    @property
    def exists(self) -> bool:
        """Whether this directory holds an ensemble."""
        return self.manifest.exists() or self.journal.exists()

    def job_record(self, job: str) -> Path:
        """The record of a job."""
        return self.jobs / f"{job}.yaml"

    def job_part(self, job: str, number: int) -> Path:
        """One of the files that hold the tasks of a large job, from 1."""
        return self.jobs / job / f"{number:04}.yaml"

    def status_part(self, node: str) -> Path:
        """The file that holds the instances of a node in a large ensemble."""
        return self.status / f"{_file_name(node)}.yaml"

    def shared_part(self, node: str) -> Path:
        """The file that holds a node's instances together with those of others, in a large ensemble: always the same
        one for a node, so that a change touches little."""
        return self.shared / f"{hashlib.sha256(node.encode()).digest()[0] % SHARED_PARTS:02x}.yaml"

    def log(self, job: str) -> Path:
        """What the operations of a job printed."""
        return self.logs / f"{job}.log"

    def events(self, job: str) -> Path:
        """The events of a job."""
        return self.event_files / f"{job}.ndjson"

    def job_ids(self) -> list[str]:
        """The ids of all jobs that have a record, oldest first. Raises ``EnsembleError``."""
        with explained("read", self.jobs):
            try:
                names = os.listdir(self.jobs)  # noqa: PTH208  (plain names, of which there may be many)
            except FileNotFoundError:
                return []
        found = {name.removesuffix(".yaml") for name in names}
        return sorted(name for name in found if is_change_id(name) and job_of(name) == name)

    def make_private(self) -> None:
        """Make the directory for files that git ignores. Raises ``EnsembleError``."""
        with explained("write to", self.root):
            self.private.mkdir(parents=True, exist_ok=True)


def _file_name(node: str) -> str:
    """A node's name as the name of a file; different names give different ones, and none is hidden."""
    name = quote(node, safe=" ()[]+,=@")
    return f"%2E{name[1:]}" if name.startswith(".") else name
