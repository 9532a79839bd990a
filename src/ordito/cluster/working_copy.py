"""The directory in which a process works on an ensemble of a store: a copy of the files that the store keeps.

A file is fetched where it is not what the store names, and one that the store does not name is removed: nobody but jobs
changes anything here, and what a job has not published counts for nothing. `.ordito/` is this machine's own. The
records of jobs, with what they printed and told, belong to the rows of the jobs: an old one is never sent again, and
`jobs.tsv` is made of the lines that these rows keep.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ordito.cluster.connecting import Connection, StoreConnection
from ordito.cluster.keys import PoolKey
from ordito.cluster.trees import FOLDER, LARGEST, LINK, Tree, TreeEntry, Trees, digest_of
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.events_file import FIRST
from ordito.ensemble.files import read, sync_directory, write_all, write_whole
from ordito.ensemble.journal_database import FORGET_EVENTS, KEEP_RECORD, NAME_FILES, NAME_STATE, Statement
from ordito.ensemble.layout import PRIVATE, Layout
from ordito.ensemble.status import Status
from ordito.source.new_files import fresh_name

NOTES = "checked-out"
"""The file in `.ordito/` that says which files are known to be what."""

COARSE = 20_000_000
"""Nanoseconds after its last change for which a file might be changed once more without a sign."""

Resolved = dict[str, tuple[str, int]]
"""The digest of its blob, and its mode, by the path of each file."""


class FileNote(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was when its digest was known."""

    blob: str
    mode: int
    size: int
    changed: int
    number: int


class Notes(msgspec.Struct, frozen=True):
    """What is known of a working copy."""

    ensemble: str = ""
    at: int = 0
    """When it was written, in nanoseconds since the epoch."""
    files: dict[str, FileNote] = {}
    trees: dict[str, Tree] = {}


class KeptJob(msgspec.Struct, frozen=True, array_like=True):
    """A closed job in a store: the tree of its files, and its lines in `jobs.tsv`."""

    id: str
    record: str
    lines: str


class WorkingCopy:
    """The files of one ensemble, see ``EnsembleFiles``."""

    def __init__(
        self,
        layout: Layout,
        link: StoreConnection,
        ensemble: str,
        key: PoolKey,
    ) -> None:
        """``key`` is that of the workers of this machine."""
        self._layout = layout
        self._link = link
        self._trees = Trees(link)
        self._ensemble = ensemble
        self._key = key
        self._known = Notes()
        self._lines = b""
        self._blobs: dict[str, str] = {}

    # ------------------------------------------------------------------------------------------------- fetching

    def checkout(self) -> None:
        """See ``EnsembleFiles``."""
        wanted = self._fetch(whole=False)
        self._note({path: blob for path, (blob, _) in wanted.items()}, {})

    def fetch(self) -> int:
        """The same with what closed jobs have printed and told, which no job needs; returns how many files there are
        then. Raises ``EnsembleError``."""
        wanted = self._fetch(whole=True)
        self._note({path: blob for path, (blob, _) in wanted.items()}, {})
        return len(wanted)

    def _fetch(self, *, whole: bool) -> Resolved:
        tree, jobs = self._named()
        self._known = self._noted()
        wanted = self._resolved([tree, *(job.record for job in jobs)], whole=whole)
        present = {path: found for path, found in self._present() if path in wanted or not _is_own(path)}
        lacking: dict[str, list[str]] = {}
        for path, (blob, mode) in wanted.items():
            found = present.pop(path, None)
            if found is None or self._blob_of(path, found) != blob or found.st_mode != mode:
                lacking.setdefault(blob, []).append(path)
        for path in present:
            if path != self._layout.jobs_tsv.name:
                self._remove(path)
        for blob, body in self._trees.bodies(lacking):
            for path in lacking[blob]:
                self._write(path, body, wanted[path][1])
        self._lines = "".join(job.lines for job in jobs).encode()
        if self._lines or self._layout.jobs_tsv.exists():
            write_whole(self._layout.jobs_tsv, [self._lines])
        self._key.fetch(self._link, self._ensemble, self._layout)
        self._fetch_open_job()
        return wanted

    def _fetch_open_job(self) -> None:
        """Bring what the open job has told and printed elsewhere."""

        def work(db: Connection) -> tuple[str, list[bytes], list[bytes]]:
            found = db.execute("SELECT job FROM ordito.ensemble WHERE id = %s", (self._ensemble,)).fetchone()
            job = "" if found is None else str(found[0])
            if not job:
                return "", [], []
            told, printed = (
                [bytes(body) for (body,) in db.execute(query, (self._ensemble, job))] for query in (TOLD, PRINTED)
            )
            return job, told, printed

        job, told, printed = self._link.ask("read", work, lambda _: None)
        if told:
            _write_longer(self._layout.events(job), b"".join([FIRST, *told]))
        if printed:
            _write_longer(self._layout.log(job), b"".join(map(zlib.decompress, printed)))

    def _named(self) -> tuple[str, list[KeptJob]]:
        """The tree of the ensemble, and its closed jobs, the oldest first."""

        def work(db: Connection) -> tuple[str, list[KeptJob]]:
            query = "SELECT tree FROM ordito.ensemble WHERE id = %s"
            row = db.execute(query, (self._ensemble,)).fetchone()
            jobs = db.execute(
                "SELECT id, record, summary FROM ordito.job WHERE ensemble = %s AND record <> '' ORDER BY id",
                (self._ensemble,),
            )
            return ("" if row is None else str(row[0])), [KeptJob(*job) for job in jobs]

        return self._link.ask("read", work, lambda _: None)

    def _resolved(self, digests: Sequence[str], *, whole: bool) -> Resolved:
        """All files of trees; only with ``whole`` those in `.ordito/`."""
        trees = self._known.trees
        found: Resolved = {}
        used: dict[str, Tree] = {}
        level = [("", digest) for digest in digests if digest]
        while level:
            missing = {digest for _, digest in level if digest not in trees}
            known = {**self._trees.trees(missing)} if missing else {}
            below: list[tuple[str, str]] = []
            for place, digest in level:
                used[digest] = tree = known.get(digest) or trees[digest]
                for entry in tree:
                    path = f"{place}{entry.name}"
                    if path == PRIVATE and not whole:
                        continue
                    if stat.S_IFMT(entry.mode) == FOLDER:
                        below.append((f"{path}/", entry.blob))
                    else:
                        found[path] = (entry.blob, entry.mode)
            level = below
        self._known = msgspec.structs.replace(self._known, trees=used)
        return found

    def _write(self, path: str, body: bytes, mode: int) -> None:
        place = self._layout.root / path
        with explained("write", place):
            place.parent.mkdir(parents=True, exist_ok=True)
            fresh = fresh_name(place)
            try:
                if stat.S_IFMT(mode) == LINK:
                    fresh.symlink_to(os.fsdecode(body))
                else:
                    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                    try:
                        write_all(handle, body)
                        os.fchmod(handle, stat.S_IMODE(mode))
                        os.fsync(handle)
                    finally:
                        os.close(handle)
                fresh.replace(place)
            except BaseException:
                fresh.unlink(missing_ok=True)
                raise
            sync_directory(place.parent)

    def _remove(self, path: str) -> None:
        place = self._layout.root / path
        with explained("remove", place):
            place.unlink(missing_ok=True)
            for folder in place.parents:
                if folder == self._layout.root:
                    break
                with contextlib.suppress(OSError):
                    folder.rmdir()

    # ----------------------------------------------------------------------------------------------- publishing

    def publish(self, job: str = "", status: Status | None = None) -> list[Statement]:
        """See ``EnsembleFiles``."""
        present = self.present()
        statements = self.published(present, status)
        if job:
            lines = (read(self._layout.jobs_tsv) or b"").removeprefix(self._lines)
            statements.append((FORGET_EVENTS, [()]))
            statements.append((KEEP_RECORD, [(self.keep_record(job, present), lines.decode())]))
            self._lines += lines
        self._note(self._blobs, self._known.files)
        return statements

    def published(self, present: Mapping[str, os.stat_result], status: Status | None) -> list[Statement]:
        """Keep the files that belong to no job, and the ensemble's key; returns the statements that name them. Raises
        ``EnsembleError``."""
        records, tsv = f"{self._layout.jobs.name}/", self._layout.jobs_tsv.name
        files = [path for path in present if not _is_own(path) and not path.startswith(records) and path != tsv]
        tree = self._keep_tree(files, present)
        statements: list[Statement] = [(NAME_FILES, [(tree,)]), *self._key.statements(self._ensemble, self._layout)]
        if status is not None:
            last = status.last_job
            statements.append((NAME_STATE, [(last.status if last is not None else "", status.last_change)]))
        return statements

    def keep_record(self, job: str, present: Mapping[str, os.stat_result]) -> str:
        """Keep the files of a closed job; returns the digest of their tree. Raises ``EnsembleError``."""
        return self._keep_tree(_of_job(job, present), present)

    def _keep(self, present: Mapping[str, os.stat_result]) -> dict[str, str]:
        blobs = {path: self._blob_of(path, found) for path, found in present.items()}
        first = {blob: path for path, blob in blobs.items()}
        missing = self._trees.missing_blobs(first)
        self._trees.put_blobs((blob, self._body_of(first[blob], blob)) for blob in missing)
        self._blobs.update(blobs)
        return blobs

    def _keep_tree(self, paths: Sequence[str], present: Mapping[str, os.stat_result]) -> str:
        """Keep files; returns the digest of their tree, "" where there are none."""
        blobs = self._keep({path: present[path] for path in paths})
        folders: dict[str, list[TreeEntry]] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            folders.setdefault(folder, []).append(TreeEntry(name, blobs[path], present[path].st_mode))
            while folder:
                folder = folder.rpartition("/")[0]
                folders.setdefault(folder, [])
        trees: dict[str, Tree] = {}
        digest = ""
        # The deepest first: a folder names the trees of those in it.
        for folder in sorted(folders, key=lambda place: place.count("/") + bool(place), reverse=True):
            tree = tuple(sorted(folders[folder], key=lambda entry: entry.name))
            digest = digest_of(tree)
            trees[digest] = tree
            if folder:
                above, _, name = folder.rpartition("/")
                folders[above].append(TreeEntry(name, digest, FOLDER))
        self._trees.put_trees(trees)
        self._known = msgspec.structs.replace(self._known, trees={**self._known.trees, **trees})
        return digest

    def _body_of(self, path: str, blob: str) -> bytes:
        body = self._body(path)
        if hashlib.sha256(body).hexdigest() != blob:
            raise EnsembleError(f"{self._layout.root / path} was changed while it was read", "try again")
        return body

    def _body(self, path: str) -> bytes:
        place = self._layout.root / path
        with explained("read", place):
            found = place.lstat()
            if stat.S_ISLNK(found.st_mode):
                return os.fsencode(os.readlink(place))  # noqa: PTH115  (as it is written)
            if found.st_size > LARGEST:
                raise EnsembleError(
                    f"{place} has {found.st_size} bytes, and a store keeps files of {LARGEST} at most",
                    "put it where operations fetch it, instead of into the service",
                )
            return place.read_bytes()

    # ------------------------------------------------------------------------------------------ what is there

    def present(self) -> dict[str, os.stat_result]:
        """The files of the directory, and of `.ordito/` those that belong to jobs. Raises ``EnsembleError``."""
        return dict(self._present())

    def _present(self) -> Iterator[tuple[str, os.stat_result]]:
        root = str(self._layout.root)
        open_ones = [""]
        while open_ones:
            folder = open_ones.pop()
            with explained("read", self._layout.root / folder):
                try:
                    entries = list(os.scandir(f"{root}/{folder}"))
                except FileNotFoundError:
                    continue
                for entry in entries:
                    path = f"{folder}{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        if not _is_own(f"{path}/") or f"{path}/" in OF_JOBS or path == PRIVATE:
                            open_ones.append(f"{path}/")
                    elif folder != f"{PRIVATE}/":
                        found = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
                            _check_name(path)
                            yield path, found

    def _blob_of(self, path: str, found: os.stat_result) -> str:
        note = self._known.files.get(path)
        if note is not None and found.st_ctime_ns < self._known.at - COARSE and note == _note_of(note.blob, found):
            return note.blob
        return hashlib.sha256(self._body(path)).hexdigest()

    def _noted(self) -> Notes:
        content = read(self._layout.private / NOTES)
        with contextlib.suppress(msgspec.DecodeError, msgspec.ValidationError):
            found = msgspec.msgpack.decode(content or b"", type=Notes)
            if found.ensemble == self._ensemble:
                return found
        # It was the copy of another ensemble, or of none.
        for path in (self._layout.key, self._layout.outline):
            with explained("remove", path):
                path.unlink(missing_ok=True)
        return Notes(self._ensemble)

    def _note(self, blobs: Mapping[str, str], before: Mapping[str, FileNote]) -> None:
        files = {}
        for path, blob in blobs.items():
            with contextlib.suppress(OSError):
                files[path] = _note_of(blob, (self._layout.root / path).lstat())
        known = msgspec.structs.replace(
            self._known, ensemble=self._ensemble, at=time.time_ns(), files={**before, **files}
        )
        self._known = known
        self._layout.make_private()
        write_whole(self._layout.private / NOTES, [msgspec.msgpack.encode(known)])


TOLD = b"SELECT lines FROM ordito.event WHERE ensemble = %s AND job = %s ORDER BY number"
PRINTED = b"SELECT body FROM ordito.log_chunk WHERE ensemble = %s AND job = %s ORDER BY number"


def _write_longer(path: Path, content: bytes) -> None:
    """Write a file that only grows, unless it has grown further here."""
    with explained("read", path):
        size = path.stat().st_size if path.exists() else 0
    if len(content) > size:
        write_whole(path, [content])


def forget_notes(layout: Layout) -> None:
    """Make a working copy a directory like any other. Raises ``EnsembleError``."""
    path = layout.private / NOTES
    with explained("remove", path):
        path.unlink(missing_ok=True)


OF_JOBS = (f"{PRIVATE}/logs/", f"{PRIVATE}/events/")
"""What jobs leave in `.ordito/` that others want to read."""


def _is_own(path: str) -> bool:
    return path.startswith(f"{PRIVATE}/")


def _of_job(job: str, present: Mapping[str, os.stat_result]) -> list[str]:
    """The files that a job leaves: its record with the parts of that, its log and its events."""
    names = [f"jobs/{job}.yaml", *(f"{PRIVATE}/{name}" for name in (f"logs/{job}.log", f"logs/{job}.index"))]
    parts = [f"jobs/{job}/{number:04}.yaml" for number in range(1, _parts_of(job, present) + 1)]
    return [path for path in (*names, *parts, f"{PRIVATE}/events/{job}.ndjson") if path in present]


def _parts_of(job: str, present: Mapping[str, os.stat_result]) -> int:
    number = 0
    while f"jobs/{job}/{number + 1:04}.yaml" in present:
        number += 1
    return number


def _note_of(blob: str, found: os.stat_result) -> FileNote:
    return FileNote(blob, found.st_mode, found.st_size, found.st_ctime_ns, found.st_ino)


def _check_name(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        shown = path.encode("utf-8", "backslashreplace").decode()
        raise EnsembleError(f"the name of {shown} is no UTF-8, and a store keeps no such file", "rename it") from None
