"""Computes that are containers, and applications in containers, through `podman` or `docker`."""
