"""Archives for tests: terse ways to make ZIP files, sound ones and others."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

META = "TOSCA-Metadata/TOSCA.meta"
HEAD = "TOSCA-Meta-File-Version: 1.1\nCSAR-Version: 1.1\nCreated-By: A. Author\n"
EMPTY = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
NAMED = EMPTY + "metadata: { template_name: shop, template_version: 1.0, template_author: A. Author }\n"


def packed(path: Path, files: Mapping[str, str | bytes], *, level: int = zipfile.ZIP_DEFLATED) -> Path:
    """An archive that holds these files."""
    with zipfile.ZipFile(path, "w", level) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def with_meta(path: Path, entry: str, more: str = "", files: Mapping[str, str | bytes] | None = None) -> Path:
    """An archive with a TOSCA.meta that names an entry."""
    return packed(path, {META: f"{HEAD}Entry-Definitions: {entry}\n{more}", **(files or {entry: EMPTY})})
