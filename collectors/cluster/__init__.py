"""The cluster in memory, by list and watch."""
