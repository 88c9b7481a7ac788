"""Settings: the schema, loading a file, secrets, and what the parts are given."""
