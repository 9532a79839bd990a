"""Reading YAML that was written here, and may have been changed by others since."""

from __future__ import annotations

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.vault import unsealed


def load(content: bytes, name: str, hint: str, *, first_line: int = 1) -> object:
    """The plain data of a document; ``first_line`` is the line of the file ``name`` at which it begins.

    Raises ``EnsembleError`` with the place and the ``hint`` for what is no YAML.
    """
    # Most commands find all they need in the journal.
    import yaml

    try:
        return unsealed(yaml.load(content, Loader=yaml.CSafeLoader), content)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}:{mark.line + first_line}:{mark.column + 1}" if mark else name
        problem = getattr(error, "problem", None) or str(error)
        raise EnsembleError(f"{where}: this is no YAML any more: {problem}", hint) from error
