"""Whether a text is well-formed XML, without anything that could lead out of it or make it grow."""

from __future__ import annotations


def xml_problem(text: str) -> str:
    """Why a text is no well-formed XML document, "" where it is one. Declarations of entities are refused: they could
    make a short text fill the memory, or lead to files."""
    from xml.parsers import expat

    def refuse_entity(name: str, *_: object) -> None:
        raise ValueError(f'it declares the entity "{name}", which is not read')

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(text.strip().encode("utf-8", errors="replace"), True)
    except ValueError as error:
        return str(error)
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1} of it"
        return f"it is not well-formed XML: {expat.ErrorString(error.code)} ({where})"
    return ""
