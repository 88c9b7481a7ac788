"""The cluster cache, kept current by list and watch."""
