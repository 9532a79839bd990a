"""Machines, volumes and networks of a cloud, over apache-libcloud."""
