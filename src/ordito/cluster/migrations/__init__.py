"""How the tables of a store came to be, step by step. Run by Alembic, which ``store.py`` calls."""
