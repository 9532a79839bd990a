"""Formatting service templates: indentation and empty lines; never what they mean."""
