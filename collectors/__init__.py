"""WHAT IS: sources, the cluster cache and checks. It draws no conclusions."""
