"""Plans: their steps, the dry run, the preview, and the executor."""
