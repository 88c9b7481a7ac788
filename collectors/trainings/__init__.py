"""Trainings, read from the cluster cache; one file per kind of training."""
