"""The text of documents as objects: the TOSCA grammar, its dialects, and expressions as trees."""
