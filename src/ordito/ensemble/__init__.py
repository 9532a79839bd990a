"""The project directory: journal, ensemble file, jobs, lock."""
