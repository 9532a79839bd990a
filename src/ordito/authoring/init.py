"""Make a new project: a small service that deploys at once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.output_file import cannot_write
from ordito.base.suggest import nearest

ELSEWHERE = "choose another directory: `ordito init DIR`"
TEMPLATES = Path(__file__).with_name("templates")
NAME = b"template_name: hello"


class InitRequest(msgspec.Struct, frozen=True):
    """The directory and the template of a new project."""

    directory: str
    template: str = "hello"


class InitResult(msgspec.Struct, frozen=True):
    """The files that were made, relative to the directory."""

    directory: str
    files: tuple[str, ...]


def init(request: InitRequest) -> InitResult:
    """Copy a template into a directory, which is made if needed; completely or not at all. Raises ``Refused`` instead
    of overwriting a file."""
    source = TEMPLATES / request.template
    if not request.template.isidentifier() or not source.is_dir():
        known = template_names()
        near = nearest(request.template, known)
        hint = f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(known)}"
        raise Refused("unknown-template", f'there is no template "{request.template}"', hint)
    target = Path(request.directory)
    files = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    existing = [str(target / file) for file in files if os.path.lexists(target / file)]
    if existing:
        raise Refused("exists", f"{', '.join(existing)} would be overwritten", ELSEWHERE)
    made: list[Path] = []
    try:
        for file in files:
            _make_folder((target / file).parent, made)
            _copy(_named((source / file).read_bytes(), target), source / file, target / file, made)
    except BaseException:
        _remove(made)
        raise
    return InitResult(request.directory, tuple(str(file) for file in files))


def _make_folder(folder: Path, made: list[Path]) -> None:
    """Make a folder and its parents; new ones are added to ``made``."""
    missing = [path for path in (folder, *folder.parents) if not path.is_dir()]
    for path in reversed(missing):
        try:
            path.mkdir()
        except OSError as error:
            raise cannot_write(str(path), error) from error
        made.append(path)


def _named(content: bytes, target: Path) -> bytes:
    """The content of a file of a template, with the name of the directory as name of the service, if it is valid
    text."""
    name = target.resolve().name
    if not name or not name.isprintable():
        return content
    return content.replace(NAME, f"template_name: {json.dumps(name, ensure_ascii=False)}".encode())


def _copy(content: bytes, source: Path, target: Path, made: list[Path]) -> None:
    mode = source.stat().st_mode & 0o777
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        made.append(target)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except FileExistsError:
        raise Refused("exists", f"{target} would be overwritten", ELSEWHERE) from None
    except OSError as error:
        raise cannot_write(str(target), error) from error


def _remove(made: list[Path]) -> None:
    """Remove what was made; a folder only if it is empty."""
    for path in reversed(made):
        try:
            path.rmdir() if path.is_dir() else path.unlink()
        except OSError:
            continue


def template_names() -> list[str]:
    """The names of the templates."""
    return sorted(path.name for path in TEMPLATES.iterdir() if path.is_dir())
