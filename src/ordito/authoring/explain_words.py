"""Explain a word of the language that is neither a type nor an entity nor a function: operators of constraints and of
conditions, keywords, directives, activities, node states, statuses, keynames; and the settings of Ordito."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ordito.authoring.keynames import places_of
from ordito.instances import states
from ordito.model import settings
from ordito.model.sensitivity import SENSITIVE
from ordito.model.templates import SELECT, SUBSTITUTE
from ordito.syntax.functions import FUNCTIONS

OPERATORS: Mapping[str, tuple[str, str]] = {
    "equal": ("the value is this one; the operator may be left out", "equal: 8"),
    "greater_than": ("the value is greater", "greater_than: 0"),
    "greater_or_equal": ("the value is greater, or this one", "greater_or_equal: 1"),
    "less_than": ("the value is less", "less_than: 65536"),
    "less_or_equal": ("the value is less, or this one", "less_or_equal: 100"),
    "in_range": ("the value is between two bounds, both included; the upper may be UNBOUNDED", "in_range: [ 1, 4 ]"),
    "valid_values": ("the value is one of a list", "valid_values: [ small, large ]"),
    "length": ("a text has this number of characters, a list or map this number of entries", "length: 8"),
    "min_length": ("a text, list or map has at least this length", "min_length: 1"),
    "max_length": ("a text, list or map has at most this length", "max_length: 64"),
    "pattern": ("a text matches a regular expression as a whole", 'pattern: "[a-z]+"'),
    "schema": ("a text contains data that a JSON Schema describes", 'schema: \'{ "type": "object" }\''),
}
"""Of constraint clauses (§3.6.3)."""

WORDS: Mapping[str, tuple[str, str, str]] = {
    "SELF": (
        "keyword",
        "The node or relationship in which a function or a mapping of outputs is written (§4.1).",
        "get_property: [ SELF, port ]",
    ),
    "SOURCE": (
        "keyword",
        "In a relationship: the node whose requirement it is (§4.1).",
        "get_attribute: [ SOURCE, tosca_id ]",
    ),
    "TARGET": (
        "keyword",
        "In a relationship: the target node of the requirement (§4.1).",
        "get_attribute: [ TARGET, private_address ]",
    ),
    "HOST": (
        "keyword",
        "The nearest node in the chain of hosts that has what is asked for (§4.1, §3.6.16).",
        "get_attribute: [ HOST, private_address ]",
    ),
    "ORCHESTRATOR": (
        "keyword",
        "As operation_host: the operation runs where Ordito runs (§3.6.16).",
        "operation_host: ORCHESTRATOR",
    ),
    "INDEX": (
        "keyword",
        "The number of the instance among those of its node, from 0 on, in a path (§2.20).",
        "get_input: [ disks, INDEX ]",
    ),
    "UNBOUNDED": (
        "keyword",
        "No upper bound: in occurrences, in ranges and in in_range.",
        "occurrences: [ 1, UNBOUNDED ]",
    ),
    "LOCAL_FILE": (
        "keyword",
        "In get_artifact: a place of the operation's own (§4.8.1).",
        "get_artifact: [ SELF, conf, LOCAL_FILE ]",
    ),
    SELECT: (
        "directive",
        "The node template represents an existing node that is chosen from an inventory (§2.9).",
        "directives: [ select ]",
    ),
    SUBSTITUTE: (
        "directive",
        "A topology substitutes the node template (§2.10).",
        "directives: [ substitute ]",
    ),
    "delegate": ("activity", "A workflow step delegates to another workflow (§3.6.23).", "delegate: deploy"),
    "inline": (
        "activity",
        "The steps of another workflow replace the activity (§3.6.23).",
        "inline: check",
    ),
    "set_state": ("activity", "The node gets a state (§3.6.23).", "set_state: started"),
    "call_operation": ("activity", "An operation of the node is called (§3.6.23).", "call_operation: Standard.start"),
    "and": (
        "operator of conditions",
        "All of the clauses hold (§3.6.25).",
        "and: [ { state: [ { equal: started } ] } ]",
    ),
    "or": ("operator of conditions", "One of the clauses holds (§3.6.25).", "or: [ { state: [ { equal: error } ] } ]"),
    "not": (
        "operator of conditions",
        "Not all of the clauses hold (§3.6.25).",
        "not: [ { state: [ { equal: error } ] } ]",
    ),
    "assert": ("operator of conditions", "As and; deprecated (§3.6.25).", "and: [ { state: [ { equal: started } ] } ]"),
    "ok": ("status", "The instance works: everything that creates it succeeded, or its check said so.", ""),
    "degraded": ("status", "The instance works, but something optional has failed.", ""),
    "pending": ("status", "The instance is being created, or was stopped.", ""),
    "unknown": (
        "status",
        "It is not known how the instance is: an operation failed without saying what it had changed.",
        "",
    ),
    "absent": ("status", "The instance does not exist, or no longer exists.", ""),
    SENSITIVE: (
        "entry of metadata",
        "In the metadata of a property, attribute or input, of a data type or a node template: its values are secret.",
        'metadata: { sensitive: "true" }',
    ),
}
"""Words by name: what they are, what they mean, and how they are written."""


class WordView(msgspec.Struct, frozen=True):
    """A word: what it is, what it means, how it is written ("" if the meaning says so), and for a keyname the entities
    that have it, each with its value."""

    name: str
    kind: str
    description: str
    usage: str = ""
    places: tuple[tuple[str, str], ...] = ()


def explain_word(word: str) -> WordView | None:
    """The word of the language or the setting with a name; None for none."""
    if word in OPERATORS:
        meaning, usage = OPERATORS[word]
        return WordView(
            word, "operator of constraints", f"A constraint: {meaning} (§3.6.3).", f"constraints: [ {usage} ]"
        )
    if word in WORDS:
        kind, description, usage = WORDS[word]
        return WordView(word, kind, description, usage)
    if word in states.TRANSITIONS:
        following = ", ".join(sorted(states.TRANSITIONS[word]))
        return WordView(
            word, "node state", f"A state of a node or a relationship (§3.4.1). After it may come: {following}."
        )
    return _setting(word)


def explain_keyname(word: str) -> WordView | None:
    """The keyname with a name, with the entities that have it; None for none."""
    places = places_of(word)
    return WordView(word, "keyname", "A keyname of the language, of these entities:", places=places) if places else None


def word_names() -> Iterable[str]:
    """All words and settings."""
    return (*OPERATORS, *WORDS, *states.TRANSITIONS, *setting_names())


def setting_names() -> list[str]:
    """The settings by their full names; those of operations as they are written for one."""
    of_operations = (f"{settings.PREFIX}<interface>.<operation>.{name}" for name in settings.OF_OPERATIONS)
    return [*(f"{settings.PREFIX}{name}" for name in settings.KNOWN), *of_operations, *settings.ELSEWHERE]


def _setting(word: str) -> WordView | None:
    operation, _, key = word.removeprefix(settings.PREFIX).rpartition(".")
    known = settings.ELSEWHERE.get(word)
    if known is None and word.startswith(settings.PREFIX):
        known = settings.KNOWN.get(key)
        if known is not None and operation and not known.of_operations:
            known = None
    if known is None:
        return None
    of = f" Here for one operation: {operation}." if operation and word not in settings.ELSEWHERE else ""
    where = "" if word in settings.ELSEWHERE else " It is written in the metadata of node templates and node types."
    return WordView(
        word, "setting", f"{known.meaning}{where}{of}", f"metadata: {{ {word}: VALUE }}, where VALUE is {known.value}"
    )


# Explain a function of the language: what it gives, and how it is written (chapter 4).

MEANINGS = {
    "concat": "Joins texts (§4.3.1).",
    "join": "Joins the texts of a list, with a delimiter between them (§4.3.2).",
    "token": "Gives one part of a text that is cut at separator characters; the first has the index 0 (§4.3.3).",
    "get_input": "Gives the value of an input of the topology, or a part of it (§4.4.1).",
    "get_property": "Gives the value of a property of a node, a relationship or a capability (§4.4.2).",
    "get_attribute": "Gives the value of an attribute, or of a property, as it is at run time (§4.5.1).",
    "get_operation_output": "Gives an output of an operation (§4.6.1).",
    "get_nodes_of_type": "Gives the nodes of a type, and of types derived from it (§4.7.1).",
    "get_artifact": "Gives the path of an artifact's file or of a copy of it (§4.8.1).",
}
ENTITIES = "An entity is the name of a node or relationship template, or SELF, SOURCE, TARGET or HOST."


class FunctionView(msgspec.Struct, frozen=True):
    """A function: ``usage`` is how it is written, ``gives`` the type of its result, "" if that depends on what it
    names, ``notes`` are further remarks."""

    name: str
    description: str
    usage: tuple[str, ...]
    gives: str
    notes: tuple[str, ...]


def explain_function(word: str) -> FunctionView | None:
    """The function with a name; None for none."""
    function = FUNCTIONS.get(word)
    if function is None:
        return None
    notes = [ENTITIES] if "[entity" in function.usage else []
    if function.computed is not None:
        notes.append("After the first argument, names and indexes may be calls of functions.")
    usage = tuple(function.usage.split(", or "))
    return FunctionView(word, MEANINGS[word], usage, function.gives, tuple(notes))
