"""Our HTTP endpoints: lines, health, metrics."""
