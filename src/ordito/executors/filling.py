"""Templates that are filled before an operation runs (TOSCA 1.3 §5.4.5, §13.2.5)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ordito.executors.copies import Unusable, in_tree
from ordito.work.invocation import SCRATCH, Invocation
from ordito.work.needs import filled_name

MOST_HINT = 300
"""Characters of what is said about the names that a template may use."""


def filled(invocation: Invocation, scratch: str) -> dict[str, str]:
    """The texts of an invocation's templates, by the names that they get beside the script; ``scratch`` is the folder
    that stands for ``SCRATCH``. ``Unusable``, with the template and the line, for one that has no text."""
    needs = invocation.needs
    if needs is None or not needs.templates:
        return {}
    # Few operations have templates, and importing this takes a tenth of a second.
    from ordito.base.templating.sandbox import Sandbox, Unevaluated

    values = msgspec.json.encode({**invocation.environment, **needs.values})
    stands_for = msgspec.json.encode(f"{scratch}/")[1:-1]
    sandbox = Sandbox(msgspec.json.decode(values.replace(SCRATCH.encode(), stands_for), type=dict[str, object]))
    script = invocation.artifact.rpartition("/")[2]
    found: dict[str, str] = {}
    for template in needs.templates:
        name = filled_name(template)
        if name in found or (name == script and template != invocation.artifact):
            raise Unusable(f"the template {template} cannot be filled to {name}: something else has that name")
        try:
            found[name] = sandbox.text(_read(invocation.root, template))
        except Unevaluated as wrong:
            where = f"{template}:{wrong.line}" if wrong.line else template
            hint = f"; {wrong.hint}" if wrong.hint and len(wrong.hint) <= MOST_HINT else ""
            raise Unusable(f"{where}: {wrong.message}{hint}") from None
    return found


def _read(root: str, template: str) -> str:
    try:
        return Path(in_tree(root, template)).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Unusable(f"the template {template} is no UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise Unusable(f"the template {template} cannot be read ({error.strerror})") from None
