"""What was chosen where a service leaves a choice, shown with the plan before anybody agrees to it (§5.8.2)."""

from __future__ import annotations

from ordito.cli.channel import Channel
from ordito.cli.text_width import pad, printable, width
from ordito.model.choices import Choices

MOST_ROWS = 200


def write_chosen(choices: Choices, channel: Channel) -> None:
    """Each place where something was chosen, and what."""
    rows = [(row["for"], _said(row)) for row in chosen_data(choices)]
    if not rows:
        return
    channel.line("Chosen")
    names = max(width(name) for name, _ in rows[:MOST_ROWS])
    for name, said in rows[:MOST_ROWS]:
        channel.line(f"    {pad(printable(name), names)}  {printable(said)}")
    if len(rows) > MOST_ROWS:
        channel.line(f"    and {len(rows) - MOST_ROWS} more, see: -o json")


def chosen_data(choices: Choices) -> list[dict[str, str]]:
    """The same for programs: ``for`` a node, or a requirement of one, the ``topology`` that stands for it or the
    existing ``node`` that it is."""
    found = [{"for": name, "topology": file} for name, file in choices.substitutes.items()]
    found += [{"for": name, "node": selected.node} for name, selected in choices.selected.items()]
    return found + [{"for": name, "node": node} for name, node in choices.requirements.items()]


def _said(row: dict[str, str]) -> str:
    if "topology" in row:
        return f"substituted by the topology of {row['topology']}"
    return f'the existing node "{row["node"]}"'
