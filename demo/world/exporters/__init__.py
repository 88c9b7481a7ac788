"""This package answers for every exporter of the cluster, with the real names and labels."""
