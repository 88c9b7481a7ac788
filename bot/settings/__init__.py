"""Settings: the schema, loading, secrets, and the values that other parts are given."""
