"""Kubernetes as a source: objects, lists, watches and pod logs."""
