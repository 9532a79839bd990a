"""The plugins that a blueprint defines (section 6.5)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.cloudify.operations import EXECUTORS
from ordito.syntax.cloudify.entities import Plugin


def check_plugins(written: Mapping[str, Plugin], diagnostics: Diagnostics) -> None:
    """Report plugins that run nowhere, or come from nowhere."""
    for name, item in written.items():
        if item.executor.text not in EXECUTORS:
            diagnostics.unknown("bad-value", "executor", item.executor.text, item.executor.span, EXECUTORS)
        if item.install is not False and item.source is None and item.package_name is None:
            diagnostics.error(
                "missing-keyname",
                f'plugin "{name}" is installed, and says neither "source" nor "package_name"',
                item.span,
                hint="add one of them, or write install: false",
            )
