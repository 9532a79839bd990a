"""From files to located YAML nodes: the loader, CSAR archives, and files that are fetched."""
