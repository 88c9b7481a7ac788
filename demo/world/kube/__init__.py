"""This package plays, as a client of the Kubernetes API, what a bare control plane lacks."""
