"""Where the secrets come from that the user's part of an ensemble names."""

from __future__ import annotations

from ordito.app.spec.sources import NoSecret, Secrets
from ordito.base.diagnostics import suggestion
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.secrets_file import SecretsFile


def secrets_of(layout: Layout) -> Secrets:
    """The secrets of an ensemble."""
    return _Kept(layout)


class _Kept:
    """What `secrets.yaml` holds."""

    def __init__(self, layout: Layout) -> None:
        self._file = SecretsFile(layout)

    def value(self, name: str) -> object:
        """A secret. Raises ``NoSecret``."""
        try:
            return self._file.get(name)
        except KeyError:
            near = suggestion(name, self._file.names())
            raise NoSecret(
                f'there is no secret "{name}"', f"{near}; to keep one: `ordito secrets set {name}`"
            ) from None
        except EnsembleError as error:
            raise NoSecret(f'secret "{name}" cannot be read: {error.message}', error.hint) from None
