"""`gpu`: list GPUs, find idle ones, and request them back from their owners."""
