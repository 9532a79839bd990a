"""Finds the files that imports and artifacts name: by paths, URLs and repositories (§3.6.6, §3.6.7, §3.6.8).

A location is a path relative to the service's root, ``profile:...`` for a bundled file, or a URL.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import msgspec

from ordito.base.diagnostics import Diagnostics, suggestion
from ordito.base.git_places import below_git, git_place, is_in_git
from ordito.base.paths import beside, is_url, leaves_root
from ordito.base.sensitive import Sensitive
from ordito.base.span import Span
from ordito.model.unit import Unit
from ordito.source.bundled import PROFILE_SCHEME, profile_file, profile_names
from ordito.source.credentials import read_credential
from ordito.source.nodes import Scalar
from ordito.source.package import Package
from ordito.source.remote import normal_url
from ordito.syntax.dialects import DIALECTS, TOSCA_1_3
from ordito.syntax.service_template import ImportDefinition, RepositoryDefinition
from ordito.syntax.shapes import is_lost

NORMATIVE = f"{PROFILE_SCHEME}{TOSCA_1_3.name}/profile.yaml"
FILE_SCHEME = "file:"
OUTSIDE = "outside-package"


class Registry(msgspec.Struct, frozen=True):
    """Where images are: the URL, or the name of the host, and the user and token that it is shown, if any."""

    url: str
    account: Sensitive | None = None


class Locations:
    """Locates files. One that cannot be located is reported, and its location is None."""

    def __init__(self, package: Package, diagnostics: Diagnostics) -> None:
        self._package = package
        self._diagnostics = diagnostics
        self._repositories: dict[tuple[int, str], tuple[Unit, RepositoryDefinition] | None] = {}
        """Repositories by the names that files give them. Files are told apart by what they are."""

    def of_import(self, unit: Unit, item: ImportDefinition) -> str | None:
        """The file that an import names."""
        path = item.file.text
        if item.repository is None:
            if path in DIALECTS:
                return NORMATIVE
            if path.startswith(PROFILE_SCHEME):
                return path if unit.content.lowered is not None else self._profile(item.file)
            if unit.is_bundled:
                return PROFILE_SCHEME + beside(unit.file.removeprefix(PROFILE_SCHEME), path)
            if path.startswith("/") and not is_url(unit.file):
                self._diagnostics.error(
                    "absolute-import",
                    "an import by an absolute path works on one machine only",
                    item.file.span,
                    hint="write the path relative to this file",
                )
                return None
        return self._located(unit, item.file, item.repository)

    def of_artifact(self, unit: Unit, file: Scalar, repository: Scalar | None) -> str | None:
        """The file of an artifact, always by a path: one that is fetched by its place in the service."""
        if repository is None and file.text.startswith("/") and not is_url(unit.file):
            return file.text
        location = self._located(unit, file, repository)
        return self._package.stored(location) if location is not None else None

    def _profile(self, file: Scalar) -> str | None:
        name = file.text.removeprefix(PROFILE_SCHEME)
        if (found := profile_file(name)) is not None:
            return found
        self._diagnostics.error(
            "unknown-profile",
            f'no bundled profile is called "{name}"',
            file.span,
            hint=suggestion(name, profile_names()),
        )
        return None

    def _located(self, unit: Unit, file: Scalar, repository: Scalar | None) -> str | None:
        """What a path in a file names, in a repository where one is given."""
        if repository is None:
            location = self._at(unit, file.text, file.span)
            if location is not None and is_in_git(location) and not git_place(location).path:
                self._diagnostics.error(
                    "unsupported-url",
                    "this is a git repository, and names no file in it",
                    file.span,
                    hint="write #REF:PATH behind it, as in https://host/types.git#v1.2:base.yaml",
                )
                return None
            return location
        found = self._repository(unit, repository)
        if found is None:
            return None
        owner, definition = found
        if is_url(file.text) or ".." in file.text.split("/"):
            self._diagnostics.error(
                "bad-value",
                f"{file.text} is not in the repository",
                file.span,
                hint="write a path below the repository's URL, or leave the repository out",
            )
            return None
        base = self._at(owner, definition.url.text, definition.url.span)
        if base is None:
            return None
        credential = read_credential(definition.credential)
        if credential is not None and is_url(base):
            self._package.tree.add_credential(base, credential)
        if is_in_git(base):
            return below_git(base, file.text)
        path = f"{base.rstrip('/')}/{file.text.lstrip('/')}"
        return self._checked(path if is_url(path) else beside("", path), file.text, file.span)

    def registry(self, unit: Unit, repository: Scalar) -> Registry | None:
        """The repository of an image, which is no file of it: where it is, and what it is shown."""
        found = self._repository(unit, repository)
        if found is None:
            return None
        _, definition = found
        credential = read_credential(definition.credential)
        account = Sensitive(credential.account()) if credential is not None else None
        return Registry(definition.url.text, account)

    def _repository(self, unit: Unit, name: Scalar) -> tuple[Unit, RepositoryDefinition] | None:
        """A repository by its name, with the file that declares it: this one, or one that it imports."""
        known = (id(unit), name.text)
        if self._repositories.get(known) is None:
            self._repositories[known] = self._find(unit, name)
        return self._repositories[known]

    def _find(self, unit: Unit, name: Scalar) -> tuple[Unit, RepositoryDefinition] | None:
        seen = {id(unit)}
        todo = [unit]
        for here in todo:
            declared = here.content.repositories or {}
            if name.text in declared:
                return here, declared[name.text]
            if is_lost(here.content.repositories, name.text):
                return None
            more = [u for u in here.imports.values() if id(u) not in seen and not u.is_bundled]
            seen.update(id(u) for u in more)
            todo += more
        self._diagnostics.unknown(
            "unknown-repository",
            "repository",
            name.text,
            name.span,
            [n for u in todo for n in u.content.repositories or {}],
            note='declare it below "repositories:"',
        )
        return None

    def _at(self, unit: Unit, path: str, span: Span) -> str | None:
        """What a path or URL that is written in a file names."""
        if is_in_git(path):
            return self._git(unit, path, span)
        if path.startswith(FILE_SCHEME) or (path.startswith("/") and not is_url(unit.file)):
            return self._on_this_machine(unit, path, span)
        return self._checked(unit.resolve(path), path, span)

    def _git(self, unit: Unit, url: str, span: Span) -> str | None:
        """A git repository, or a file in one; one of this machine is nothing that others can name."""
        location = self._checked(url, url, span)
        if location is not None and git_place(location).is_local and (self._package.is_csar or is_url(unit.file)):
            self._leads_out(url, span)
            return None
        return location

    def _checked(self, location: str, path: str, span: Span) -> str | None:
        """A location that may be used; ``path`` is what is written."""
        if is_url(location) or is_in_git(location):
            try:
                return normal_url(location)
            except ValueError as error:
                self._diagnostics.error("unsupported-url", str(error), span, hint="give an http or https URL of a file")
                return None
        if self._package.is_csar and leaves_root(location):
            self._leads_out(path, span)
            return None
        return location

    def _on_this_machine(self, unit: Unit, path: str, span: Span) -> str | None:
        """An absolute path, which has a meaning only where the author and the reader are on one machine."""
        if self._package.is_csar or is_url(unit.file):
            self._leads_out(path, span)
            return None
        parts = urlsplit(path)
        if path.startswith(FILE_SCHEME) and (parts.netloc not in {"", "localhost"} or not parts.path.startswith("/")):
            self._diagnostics.error(
                "unsupported-url",
                "a file URL names an absolute path of this machine",
                span,
                hint="write it as in file:///srv/types",
            )
            return None
        return self._package.local(unquote(parts.path) if path.startswith(FILE_SCHEME) else beside("", path))

    def _leads_out(self, path: str, span: Span) -> None:
        what = "the archive" if self._package.is_csar else "what was fetched, to this machine"
        self._diagnostics.error(
            OUTSIDE,
            f"{path} leads out of {what}",
            span,
            hint="a CSAR holds all that it imports: pack the file with it"
            if self._package.is_csar
            else "use a copy beside the service template",
        )


__all__ = ["NORMATIVE", "Locations"]
