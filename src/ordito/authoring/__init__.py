"""What serves authors of templates: checks, explanations, pictures, formatting, schemas and archives."""
