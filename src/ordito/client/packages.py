"""Services that are sent to a server: known there by what they hold, so that nothing is sent twice."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from ordito.client.connection import LONG_PATIENCE
from ordito.client.errors import ServerError
from ordito.client.looks import RemoteEnsemble

ZIP = "application/zip"


def send(ensemble: RemoteEnsemble, archive: Path) -> str:
    """The digest by which the project of an ensemble knows an archive; it is sent where it is not there yet. Raises
    ``ServerError`` and ``OSError``."""
    content = archive.read_bytes()
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
