"""Files that come with Ordito and can be imported as ``profile:NAME``: profiles, and the definitions of blocks."""

from __future__ import annotations

from pathlib import Path

from ordito.source.tree import FileTree, Folder

PROFILES = Path(__file__).parent.parent / "profiles"
CATALOGUE = Path(__file__).parent.parent / "catalogue"
PROFILE_SCHEME = "profile:"
BLOCKS = "blocks"
"""The name by which the definitions of bundled blocks are imported; they are in the folder of their scripts."""


def profile_file(name: str) -> str | None:
    """The file, as ``profile:...``, of the bundled profile of that name; None where there is none."""
    if name == BLOCKS:
        return f"{PROFILE_SCHEME}{BLOCKS}/{BLOCKS}.yaml"
    return f"{PROFILE_SCHEME}{name}/profile.yaml" if name in profile_names() else None


def profile_names() -> list[str]:
    """The names of the bundled profiles."""
    return sorted([*(p.parent.name for p in PROFILES.glob("*/profile.yaml")), BLOCKS])


def read_profile(name: str) -> bytes:
    """The text of a bundled profile that is one file. Raises ``OSError``."""
    tree, path = bundled((profile_file(name) or name).removeprefix(PROFILE_SCHEME))
    with tree.open(path) as stream:
        return stream.read()


def read_beside_profile(name: str) -> dict[str, bytes]:
    """The scripts that a bundled profile runs, by their paths relative to it. Raises ``OSError``."""
    files = sorted(CATALOGUE.glob("scripts/*.*")) if name == BLOCKS else []
    return {file.relative_to(CATALOGUE).as_posix(): file.read_bytes() for file in files}


def bundled(path: str) -> tuple[FileTree, str]:
    """The tree and the name in it of the bundled file ``profile:PATH``."""
    folder, _, rest = path.partition("/")
    return (Folder(CATALOGUE), rest) if folder == BLOCKS else (Folder(PROFILES), path)
