"""The scenarios, as YAML files."""
