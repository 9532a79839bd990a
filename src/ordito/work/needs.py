"""What an implementation needs besides its file: a version of its interpreter, packages, and templates to be
rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from ordito.model.operation import Artifact

PYTHON = "tosca.artifacts.Implementation.Python"
JINJA = "tosca.artifacts.template.Jinja2"
REQUIREMENTS = "ordito.artifacts.PythonRequirements"
TEMPLATE_ENDINGS = (".j2", ".jinja2", ".jinja")


class ImplementationNeeds(msgspec.Struct, frozen=True):
    """What an invocation needs.

    ``version`` is the version of the interpreter, "" for any. ``requirements`` and ``templates`` are some of its
    dependencies, relative to ``Invocation.root``: files of the requirements of a Python script, which get a virtual
    environment where it runs, and Jinja2 templates, which are filled before it runs; a template that is put in place
    is the artifact itself. What is filled lies in the folder of the script, under the name that ``filled_name`` gives.
    ``values`` are what templates are filled with, besides the variables of the invocation: plain data, secrets as they
    are.
    """

    version: str = ""
    requirements: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    values: Mapping[str, object] = {}


def needs_of(implementation: Artifact, dependencies: Sequence[Artifact]) -> ImplementationNeeds | None:
    """What an implementation needs, without any values; None for nothing."""
    # The model is not loaded with this file, so that help comes at once.
    from ordito.model.deploying import PLACING

    is_python = PYTHON in implementation.kinds and PLACING not in implementation.kinds
    requirements = tuple(d.file for d in dependencies if is_python and is_requirements(d))
    # A template that is put in place itself is filled, too.
    templates = tuple(d.file for d in (implementation, *dependencies) if JINJA in d.kinds)
    if not (implementation.version or requirements or templates):
        return None
    return ImplementationNeeds(implementation.version, requirements, templates)


def is_requirements(artifact: Artifact) -> bool:
    """Whether an artifact lists the packages that a Python script requires: by its type, else by its name."""
    name = artifact.file.rpartition("/")[2]
    return REQUIREMENTS in artifact.kinds or (name.startswith("requirements") and name.endswith(".txt"))


def filled_name(template: str) -> str:
    """The name of the file that a template is rendered to: that of the template without its ending, else that of the
    template."""
    name = template.rpartition("/")[2]
    return next((name.removesuffix(end) for end in TEMPLATE_ENDINGS if name.endswith(end) and name != end), name)
