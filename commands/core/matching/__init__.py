"""Matching of lines as people write them with commands. Deterministic: words, synonyms and names of the cluster."""
