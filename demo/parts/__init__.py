"""Programs of others that the cluster in a box starts and stops itself."""
