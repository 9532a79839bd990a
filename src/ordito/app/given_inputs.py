"""Values of inputs as one command gives them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class GivenInputs(msgspec.Struct, frozen=True):
    """What one command gives: names of files, and texts by input; later files win, and texts win over files. A plan
    that was saved gives ``values``, which have been read and bound before. ``forgotten`` are inputs of which it is
    remembered no more what earlier commands said."""

    files: tuple[str, ...] = ()
    texts: Mapping[str, str] = {}
    values: Mapping[str, object] = {}
    forgotten: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is given."""
        return not self.files and not self.texts and not self.values
