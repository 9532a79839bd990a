"""Archives of services for tests, and sending them to a server."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import urllib3

from tests.support.serving import API, Answer, Client

META_PLACE = "TOSCA-Metadata/TOSCA.meta"
META = """\
TOSCA-Meta-File-Version: 1.1
CSAR-Version: 1.1
Created-By: ann
Entry-Definitions: service.yaml
"""


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """An archive of files; those that end in ``.sh`` can be run."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o755 if name.endswith(".sh") else 0o644) << 16
            archive.writestr(info, content)
    return made.getvalue()


def send_package(client: Client, project: str, archive: bytes, label: str = "", **more: str) -> Answer:
    """Send an archive to a project, with further headers."""
    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/zip", **more}
    where = f"{client.url}{API}/projects/{project}/packages" + (f"?label={label}" if label else "")
    with urllib3.PoolManager(retries=False) as pool:
        found = pool.request("POST", where, body=archive, headers=headers)
        return Answer(found.status, found.headers, found.data)
