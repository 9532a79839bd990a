"""A JSON Schema (2020-12) of service templates, made from the types of one, so that editors complete and check them."""
