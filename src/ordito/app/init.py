"""Make a new project: a small service that deploys at once."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.base.suggest import nearest

TEMPLATES = Path(__file__).with_name("templates")


class InitRequest(msgspec.Struct, frozen=True):
    """Where to make the project, and from which template."""

    directory: str
    template: str = "hello"


class InitResult(msgspec.Struct, frozen=True):
    """The files that were made, relative to the directory."""

    directory: str
    files: tuple[str, ...]


def init(request: InitRequest) -> InitResult:
    """Copy a template into a directory, which is made if needed. Raises ``Refused`` rather than overwrite a file."""
    source = TEMPLATES / request.template
    if not request.template.isidentifier() or not source.is_dir():
        known = template_names()
        near = nearest(request.template, known)
        hint = f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(known)}"
        raise Refused("unknown-template", f'there is no template "{request.template}"', hint)
    target = Path(request.directory)
    files = sorted(path.relative_to(source) for path in source.rglob("*") if path.is_file())
    existing = [str(target / file) for file in files if (target / file).exists()]
    if existing:
        raise Refused(
            "exists", f"{', '.join(existing)} would be overwritten", "choose another directory: ordito init DIR"
        )
    try:
        for file in files:
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / file, target / file)
    except OSError as error:
        raise Refused("cannot-write", f"cannot write {error.filename}: {error.strerror}") from error
    return InitResult(request.directory, tuple(str(file) for file in files))


def template_names() -> list[str]:
    """The templates there are."""
    return sorted(path.name for path in TEMPLATES.iterdir() if path.is_dir())
