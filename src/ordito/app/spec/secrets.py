"""Where the secrets come from that the user's part of an ensemble names."""

from __future__ import annotations

from ordito.app.spec.sources import NoSecret, Secrets
from ordito.ensemble.layout import Layout


def secrets_of(layout: Layout) -> Secrets:
    """The secrets of an ensemble."""
    return _NoSecrets(layout)


class _NoSecrets:
    """The secrets of an ensemble that keeps none."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def value(self, name: str) -> object:
        """Raises ``NoSecret``."""
        raise NoSecret(
            f'there is no secret "{name}": {self._layout.root.name} keeps no secrets',
            "give the value in an environment variable, { env: NAME }, or in a file, { file: PATH }",
        )
