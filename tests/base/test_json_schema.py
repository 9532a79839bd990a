"""JSON Schema: what schemas allow and refuse, what is no schema, and that nothing takes too long."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordito.base import json_keywords
from ordito.base.json_schema import JsonSchema, SchemaNotSupported
from tests.support.thorough import THOROUGH

OLD = "http://json-schema.org/draft-04/schema#"


@pytest.mark.parametrize(
    ("schema", "good", "bad", "problem"),
    [
        ({"type": "integer"}, 1, 1.5, "the value is 1.5, not of type integer"),
        ({"type": ["string", "null"]}, None, True, "not of type string or null"),
        ({"enum": [1, "a", [True]]}, 1.0, [1], "not one of 1"),
        ({"const": {"a": 1}}, {"a": 1}, {"a": True}, "not an object"),
        ({"minimum": 1, "maximum": 3}, 3, 0, "below 1"),
        ({"minimum": 1, "exclusiveMinimum": True, "$schema": OLD}, 2, 1, "below 1"),
        ({"exclusiveMaximum": 3}, 2.9, 3, "not below 3"),
        ({"multipleOf": 0.1}, 0.3, 0.35, "not a multiple of 0.1"),
        ({"minLength": 1, "maxLength": 2}, "ab", "", "fewer than 1"),
        ({"pattern": "b$"}, "ab", "ba", "does not match b$"),
        ({"items": {"type": "string"}}, ["a"], ["a", 1], '"/1" is 1'),
        ({"items": [{"type": "string"}], "additionalItems": False}, ["a"], ["a", 1], '"/1" is not allowed'),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", 1], ["a", "b"], '"/1"'),
        ({"minItems": 1, "uniqueItems": True}, [1, True], [1, 1.0], "the same entry twice"),
        ({"contains": {"const": 1}, "maxContains": 1}, [1, 2], [1, 1], "has 2 entries"),
        ({"required": ["a"]}, {"a": 1}, {"b": 1}, 'lacks "a"'),
        ({"properties": {"a": {"properties": {"b": {"type": "null"}}}}}, {"a": {"b": None}}, {"a": {"b": 1}}, '"/a/b"'),
        ({"patternProperties": {"^x": {"type": "integer"}}}, {"x1": 1, "y": ""}, {"x1": ""}, '"/x1"'),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, {"b": 1}, '"/b" is not allowed'),
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"ab": 1}, '"/ab"'),
        ({"minProperties": 1, "maxProperties": 1}, {"a": 1}, {}, "fewer than 1"),
        ({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}, {"a": 1, "b": 1}, {"c": 1}, 'lacks "d"'),
        ({"dependentRequired": {"a": ["b"]}}, {"b": 1}, {"a": 1}, 'lacks "b"'),
        ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, 2, 1, "below 2"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "a", None, "fits none of the 2 kinds"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 1, 2, "fits 2 of the 2 kinds"),
        ({"not": {"type": "null"}}, 1, None, "excluded"),
        ({"if": {"type": "integer"}, "then": {"minimum": 1}, "else": {"type": "string"}}, "a", 0, "below 1"),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"type": "null"}}}, None, 1, "not of type null"),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "null"}}}, None, 1, "not of type null"),
        ({"$id": "x:/s", "$ref": "x:/s#/$defs/n", "$defs": {"n": {"type": "null"}}}, None, 1, "null"),
        ({"properties": {"a": {"$ref": "#"}}, "required": ["b"]}, {"b": 1, "a": {"b": 2}}, {"b": 1, "a": {}}, "/a"),
        (False, None, 1, "not allowed"),
        ({"unknown": 1, "format": "email", "title": "t"}, "no address", None, None),
    ],
)  # fmt: skip
def test_schemas(schema: Any, good: Any, bad: Any, problem: str | None) -> None:
    """R-5.3.2-2, R-3.6.3-8: each keyword, with a value that holds and one that does not."""
    read = JsonSchema(json.dumps(schema))
    if schema is not False:
        assert read.violation(json.dumps(good)) == ""
    if problem is not None:
        assert problem in read.violation(json.dumps(bad))


def test_old_references_stand_alone() -> None:
    """Up to draft 7, what stands beside a reference does not count."""
    schema = {"$ref": "#/definitions/a", "maximum": 1, "definitions": {"a": {"type": "integer"}}}
    assert JsonSchema(json.dumps(schema)).violation("2") != ""
    assert JsonSchema(json.dumps({**schema, "$schema": OLD})).violation("2") == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not valid JSON"),
        ("5", "a schema is an object, not 5"),
        ('{"type": "text"}', '"type" needs one of array'),
        ('{"properties": []}', '"properties" needs an object of schemas'),
        ('{"properties": {"a": 5}}', "a schema is an object, not 5"),
        ('{"allOf": []}', '"allOf" needs a list'),
        ('{"minLength": -1}', "needs a whole number"),
        ('{"minimum": "1"}', "needs a number"),
        ('{"multipleOf": 0}', "above 0"),
        ('{"pattern": "["}', "not a regular expression"),
        ('{"patternProperties": {"(": {}}}', "not a regular expression"),
        ('{"required": [1]}', "needs a list of texts"),
        ('{"dependencies": {"a": [[1]]}}', "lists of texts"),
        ('{"$ref": "#/definitions/none"}', "leads nowhere"),
        ('{"uniqueItems": 1}', "true or false"),
        ("[" * 2_000 + "]" * 2_000, "JSON"),
        ('{"not":' * 60 + "{}" + "}" * 60, "nested deeper than 50"),
    ],
)
def test_no_schemas(text: str, problem: str) -> None:
    """R-3.6.10-7: what is no schema, and why."""
    with pytest.raises(ValueError, match=re.escape(problem)):
        JsonSchema(text)


@pytest.mark.parametrize(
    "text", ['{"$ref": "https://x.example/other.json"}', '{"unevaluatedProperties": false}', '{"$dynamicRef": "#a"}']
)
def test_not_supported(text: str) -> None:
    """Nothing is fetched, and what depends on the course of checking is not supported."""
    with pytest.raises(SchemaNotSupported):
        JsonSchema(text)


def test_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Schemas that lead back to themselves, multiply or match slowly end all the same."""
    if not THOROUGH:
        # A tenth of what may be spent takes a tenth of the time, and what is checked below would take for ever.
        monkeypatch.setattr(json_keywords, "MOST_EFFORT", json_keywords.MOST_EFFORT // 10)
    assert "too deep" in JsonSchema('{"$ref": "#"}').violation("1")
    doubled: dict[str, Any] = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    schema = {"$ref": "#/$defs/a0", "$defs": {**doubled, "a40": {"type": "null"}}}
    assert "too long" in JsonSchema(json.dumps(schema)).violation("1")
    assert JsonSchema('{"pattern": "^(a+)+$"}').violation(json.dumps("a" * 1_000 + "b")) != ""
    many = json.dumps({"items": {"enum": [*range(10_000)]}})
    assert "too long" in JsonSchema(many).violation(json.dumps([9_999] * 10_000))
    with pytest.raises(ValueError, match="nested deeper"):
        JsonSchema("{}").violation("[" * 60 + "]" * 60)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["", "a", "#", "^a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "items", "properties", "$ref", "not", "enum", "a", "required", "minimum", "pattern"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(schema=JSON, value=JSON)
def test_anything(schema: Any, value: Any) -> None:
    """Any document is a schema or none, and any value follows it or does not: nothing else happens."""
    try:
        read = JsonSchema(json.dumps(schema))
    except ValueError:
        return
    assert isinstance(read.violation(json.dumps(value)), str)
