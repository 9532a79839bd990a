"""Explain a function of the language: what it gives, and how it is written (chapter 4)."""

from __future__ import annotations

import msgspec

from ordito.syntax.functions import FUNCTIONS

MEANINGS = {
    "concat": "Puts texts together (§4.3.1).",
    "join": "Puts the texts of a list together, with a delimiter between them (§4.3.2).",
    "token": "Gives one part of a text that is cut at separator characters; the first has the index 0 (§4.3.3).",
    "get_input": "Gives the value of an input of the topology, or a part of it (§4.4.1).",
    "get_property": "Gives the value of a property of a node, a relationship or a capability (§4.4.2).",
    "get_attribute": "Gives the value of an attribute, or of a property, as it is at run time (§4.5.1).",
    "get_operation_output": "Gives what an operation has put out (§4.6.1).",
    "get_nodes_of_type": "Gives the nodes of a type, and of types derived from it (§4.7.1).",
    "get_artifact": "Gives the place of an artifact's file or of a copy of it (§4.8.1).",
}
ENTITIES = "An entity is the name of a node or relationship template, or SELF, SOURCE, TARGET or HOST."


class FunctionView(msgspec.Struct, frozen=True):
    """A function: ``usage`` is how it is written, ``gives`` the type of its result, "" where that depends on what it
    names, ``notes`` what else there is to know."""

    name: str
    description: str
    usage: tuple[str, ...]
    gives: str
    notes: tuple[str, ...]


def explain_function(word: str) -> FunctionView | None:
    """The function of a name; None where there is none."""
    function = FUNCTIONS.get(word)
    if function is None:
        return None
    notes = [ENTITIES] if "[entity" in function.usage else []
    if function.computed is not None:
        notes.append("After the first argument, calls of functions may stand for names and indexes.")
    usage = tuple(function.usage.split(", or "))
    return FunctionView(word, MEANINGS[word], usage, function.gives, tuple(notes))
