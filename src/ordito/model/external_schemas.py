"""External schemas: what a text in another language must be, by a schema of that language (§3.6.3.2, §3.6.10.5).

A JSON Schema is applied to values of the json type. Of values of the xml type it is only looked at that they are well
formed, since nothing here applies an XML Schema; that is said where such a schema is declared.
"""

from __future__ import annotations

from functools import lru_cache

from ordito.base.diagnostics import Diagnostics
from ordito.base.json_schema import JsonSchema, NotSupported, xml_problem
from ordito.base.span import Span
from ordito.model.schema import DataType

JSON = "tosca.datatypes.json"
XML = "tosca.datatypes.xml"


def has_language(data_type: DataType) -> bool:
    """Whether the values of a data type are texts in a language that has schemas."""
    return JSON in data_type.kinds or XML in data_type.kinds


def check_schema(text: str, data_type: DataType, place: Span, diagnostics: Diagnostics) -> None:
    """Report a schema, which stands at ``place``, that is none of the language of a data type, and warn of one that
    cannot be applied."""
    problem = reason = ""
    if JSON in data_type.kinds:
        try:
            json_schema(text)
        except NotSupported as error:
            reason = f"{error}, so values are not checked by this schema"
        except ValueError as error:
            problem = f"this is no JSON Schema: {error}"
    elif XML in data_type.kinds:
        problem = xml_problem(text)
        problem = f"this is no XML Schema: {problem}" if problem else ""
        reason = "XML Schemas are not applied: of values is only looked at that they are well-formed XML"
    else:
        reason = f"a schema says nothing about values of type {data_type.name}"
    if problem:
        diagnostics.error("bad-schema", problem, place, hint="write the schema as one block of text, below a |")
    elif reason:
        diagnostics.warning("schema-not-applied", reason, place, hint="schemas are applied to values of the type json")


def schema_violation(text: str, value: str, data_type: DataType) -> str:
    """What is wrong with a value of a data type by a schema, "" where it holds or cannot be applied."""
    if JSON not in data_type.kinds:
        return ""
    try:
        problem = json_schema(text).violation(value)
    except ValueError:
        return ""  # said where the schema stands, or of the value by the rules of its type
    return f"does not follow its schema: {problem}" if problem else ""


@lru_cache(maxsize=100)
def json_schema(text: str) -> JsonSchema:
    """A JSON Schema, taken apart once; ``ValueError`` where the text is none."""
    return JsonSchema(text)
