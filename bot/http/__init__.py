"""HTTP endpoints: command lines, health, metrics."""
