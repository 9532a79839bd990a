"""Formatting service templates: indentation, the order of keynames, empty lines; never what they mean."""
