"""The routes of the API: a table for each resource."""
