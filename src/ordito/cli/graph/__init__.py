"""Pictures of a service: a tree of text, Mermaid, DOT, SVG."""
