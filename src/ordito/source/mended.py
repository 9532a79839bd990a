"""A text that is not valid YAML, whose faults are reported and repaired one after the other."""

from __future__ import annotations

import yaml

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import SourceText, Span
from ordito.source.mends import TAB_WIDTH, YamlFault, find_fault
from ordito.source.nodes import Mapping, Node, Sequence
from ordito.source.repair import find_repair
from ordito.source.yaml_errors import CODE, report_syntax


class Mended:
    """A text with the repairs that were made so far."""

    def __init__(self, source: SourceText, diagnostics: Diagnostics) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._lines = source.text.splitlines(keepends=True)
        self._reached = (-1, -1)
        self._reported = False
        self._guessed: set[int] = set()
        self._tabs: dict[int, int] = {}
        """How many tabs were replaced by spaces, by the numbers of lines from 1."""

    @property
    def text(self) -> str:
        """The text with its repairs so far."""
        return "".join(self._lines)

    def mend(self, error: yaml.MarkedYAMLError) -> bool:
        """Report a fault and repair the text; returns whether reading can go on. A fault that cannot be repaired is
        reported only where it is the first: after another one it may only follow from that."""
        repair = find_repair(self._lines, error)
        if repair is not None:
            place = repair.line, repair.column
            report_syntax(error, self._source, repair, self._diagnostics)
            lines = repair.apply(self._lines)
        else:
            fault = find_fault(self._lines, error)
            if fault is None or fault.lines is None:
                if not self._reported:
                    self._report(fault, error)
                return False
            place = fault.line, fault.column
            if place <= self._reached:
                return False
            self._report(fault, error)
            lines = self._applied(fault)
        goes_on = place > self._reached
        self._reported = True
        self._reached, self._lines = place, lines
        return goes_on

    def finish(self, root: Node) -> None:
        """After the text was read to its end, record the guessed lines, and correct the columns of nodes after tabs."""
        self._source.guessed = frozenset(self._guessed)
        todo = [root] if self._tabs else []
        seen: set[int] = set()
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue  # Aliases share it.
            seen.add(id(node))
            node.column -= self._shift(node.line)
            node.end_column -= self._shift(node.end_line)
            if isinstance(node, Sequence):
                todo += node.items
            elif isinstance(node, Mapping):
                todo += [*node.keys, *node.values.values()]

    def _shift(self, line: int) -> int:
        return self._tabs.get(line, 0) * (TAB_WIDTH - 1)

    def _report(self, fault: YamlFault | None, error: yaml.MarkedYAMLError) -> None:
        if fault is None:
            report_syntax(error, self._source, None, self._diagnostics)
            return
        line = fault.line + 1
        column = min(fault.column, len(self._source.line(line))) + 1
        end = max(min(fault.end, len(self._source.line(line))) + 1, column + 1)
        self._diagnostics.error(CODE, fault.message, Span(self._source, line, column, line, end), hint=fault.hint)

    def _applied(self, fault: YamlFault) -> list[str]:
        lines = list(self._lines)
        for number, text in (fault.lines or {}).items():
            if lines[number].startswith("\t"):
                self._tabs[number + 1] = len(lines[number]) - len(lines[number].lstrip("\t"))
            elif not fault.exact:
                self._guessed.add(number + 1)
            lines[number] = text
        return lines
