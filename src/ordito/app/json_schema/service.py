"""The whole schema of a service's templates."""

from __future__ import annotations

import msgspec

from ordito.app.explain import opened_types
from ordito.app.json_schema.entities import EntitySchemas
from ordito.app.json_schema.types import TypeSchemas
from ordito.app.json_schema.values import Json, data_type_definition, function_definition
from ordito.base.diagnostics import Diagnostic, Diagnostics
from ordito.model.catalogue import Catalogue
from ordito.model.types import Types

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class MadeSchema(msgspec.Struct, frozen=True):
    """A schema, what is wrong with the service that it was made from, and the files that this was read from."""

    schema: Json
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[str, ...] = ()


def json_schema(service: str, *, fetch: bool = False) -> MadeSchema:
    """The schema of templates that use the types of a service, or with "" those of the program alone. It may ``fetch``
    what it names by URLs. A service with errors still gives one, of what can be read of it; raises ``InvalidDocument``
    where nothing can."""
    diagnostics = Diagnostics()
    package, types = opened_types(service, diagnostics, fetch=fetch)
    return MadeSchema(schema_of_types(types, closed=bool(service)), tuple(diagnostics.sorted()), package.sources)


def schema_of_types(types: Types, *, closed: bool = True) -> Json:
    """The schema of templates that use these types, where ``closed`` no others."""
    assert types.units.entry is not None
    typed = TypeSchemas(types, Catalogue(types), closed=closed)
    grammar = EntitySchemas(types.units.entry.dialect, typed.typed)
    data = {f"data {name}": data_type_definition(d, types.data) for name, d in types.data.items()}
    definitions = {**grammar.definitions, "function": function_definition(), **typed.definitions, **data}
    return {"$schema": DRAFT, "title": "TOSCA service template", **grammar.root, "$defs": definitions}
