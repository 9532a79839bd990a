"""Services that are sent to a server: known there by what they hold, so that nothing is sent twice."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import tempfile
from pathlib import Path

import msgspec

from ordito.authoring.package import PackageRequest, package
from ordito.client.connection import ARCHIVES, LONG_PATIENCE
from ordito.client.errors import ServerError
from ordito.client.looks import RemoteEnsemble

ZIP = "application/zip"
NAMED = re.compile(r"[0-9a-f]{64}|[a-z0-9][a-z0-9._-]*:[A-Za-z0-9][A-Za-z0-9._+-]*")
"""What a package is called that is there already: by its digest, or as name:version."""

USUAL = PackageRequest("")


def made_of(ensemble: RemoteEnsemble, service: str, usual: PackageRequest = USUAL) -> str:
    """The package of a service, by which its project knows it: a digest or a label as it is, else that of a folder or
    an archive, once it is there. A folder is packed as `ordito package` does it; ``usual`` says how. Raises
    ``ServerError``, ``Refused`` and ``InvalidDocument``."""
    path = Path(service)
    if NAMED.fullmatch(service) and not path.exists():
        return service
    digest = _send(ensemble, archived(service, usual))
    is_archive = path.suffix in ARCHIVES and path.is_file()
    shown = service if is_archive else os.path.normpath(path.parent if path.is_file() else path)
    ensemble.connection.sent[digest] = shown
    return digest


def archived(service: str, usual: PackageRequest = USUAL) -> bytes:
    """The archive of a service: the file itself, or a folder packed as `ordito package` does it; ``usual`` says how.
    Raises ``Refused``, ``InvalidDocument`` and ``OSError``."""
    path = Path(service)
    if path.suffix in ARCHIVES and path.is_file():
        return path.read_bytes()
    with tempfile.TemporaryDirectory(prefix="ordito-") as folder:
        archive = Path(folder) / "service.csar"
        package(msgspec.structs.replace(usual, service=service, out=str(archive)))
        return archive.read_bytes()


def send(ensemble: RemoteEnsemble, archive: Path) -> str:
    """The digest by which the project of an ensemble knows an archive; it is sent where it is not there yet. Raises
    ``ServerError`` and ``OSError``."""
    return _send(ensemble, archive.read_bytes())


def _send(ensemble: RemoteEnsemble, content: bytes) -> str:
    digest = hashlib.sha256(content)
    path = f"/projects/{ensemble.project}/packages"
    connection = ensemble.connection
    try:
        connection.ask("GET", f"{path}/{digest.hexdigest()}")
    except ServerError as error:
        if error.failure.code != "unknown-package":
            raise
        sum_of_it = f"sha-256=:{base64.b64encode(digest.digest()).decode()}:"
        headers = {"Content-Type": ZIP, "Content-Digest": sum_of_it}
        connection.ask("POST", path, body=content, headers=headers, patience=LONG_PATIENCE)
    return digest.hexdigest()
