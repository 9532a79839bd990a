"""Text: YAML nodes with positions, CSAR archives, repositories and imports."""
