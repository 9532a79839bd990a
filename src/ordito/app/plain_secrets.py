"""What an ensemble holds in plain text that its service declares sensitive: found in the user's part, and masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from ordito.app.inputs.sources import LITERAL, TEMPLATE_MARKS, kind_of
from ordito.app.inputs.user_part import UserPart
from ordito.app.place import Place
from ordito.app.services.read import read_service
from ordito.app.services.step_blocks import StepSources
from ordito.base.allowable import EVERY
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.base.sensitive import SHOWN, is_sensitive
from ordito.ensemble.pins import given_service
from ordito.model.circumstances import Circumstances
from ordito.model.sensitivity import Mark, Marks
from ordito.model.service import Service
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null


def plain_secrets(place: Place, user: UserPart) -> list[Scalar]:
    """What a user's part holds in plain for inputs that its service declares sensitive. Nothing where that cannot be
    read, since only the service says which inputs these are."""
    service = _service(place, user.with_given(given_service(place.layout)))
    if service is None:
        return []
    marks, found = Marks(service.data_types), list[Scalar]()
    for name in ("", *user.environments.by_name):
        for of, node in user.environments.get(name).section.inputs.items():
            found += _in_plain(node, marks.of(service.inputs.get(of)), marks)
    return found


def _service(place: Place, user: UserPart) -> Service | None:
    if not user.service:
        return None
    path = user.service_path(place.layout, place.shown)
    circumstances, sources = Circumstances(allowed=EVERY), StepSources(looked_past=True)
    try:
        return read_service(path, Diagnostics(), circumstances=circumstances, sources=sources).service
    except InvalidDocument:
        return None


def _in_plain(node: Node, mark: Mark | None, marks: Marks) -> Iterator[Scalar]:
    """The scalars of a value that are sensitive, and refer to no other place. Iterative, since users choose the
    depth."""
    waiting: list[tuple[Node, Mark | None]] = [(node, mark)]
    while waiting:
        node, mark = waiting.pop()
        if mark is None or is_null(node):
            continue
        if isinstance(node, Scalar):
            if is_sensitive(marks.wrap(node.text, mark)) and not any(one in node.text for one in TEMPLATE_MARKS):
                yield node
        elif kind_of(node):
            assert isinstance(node, Mapping)
            waiting += [(node.values[name], mark) for name in (LITERAL, "default") if name in node.values]
        else:
            is_whole = is_sensitive(marks.wrap("", mark))
            parts = enumerate(node.items) if isinstance(node, Sequence) else node.values.items()
            waiting += [(part, Mark(whole=True) if is_whole else marks.inside(mark, at)) for at, part in parts]


def masked(text: str, scalars: Iterable[Scalar]) -> str:
    """A text in which nothing of some of its scalars is shown."""
    lines = text.splitlines(keepends=True)
    offsets = list(accumulate(map(len, lines), initial=0))
    # What other files hold that are merged into it is not shown at all.
    places = {
        (offsets[one.line - 1] + one.column - 1, offsets[one.end_line - 1] + one.end_column - 1)
        for one in scalars
        if one.source.text == text
    }
    for begin, end in sorted(places, reverse=True):
        written = text[begin:end]
        text = text[:begin] + f'"{SHOWN}"' + written[len(written.rstrip()) :] + text[end:]
    return text
