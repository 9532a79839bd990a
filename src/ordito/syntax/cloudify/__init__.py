"""The text of blueprints as objects: the grammar of Cloudify's language, and its versions."""
