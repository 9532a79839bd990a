"""What is written: the TOSCA grammar, its dialects, and expressions as trees."""
