"""Dialects of exporters: how their series name the node, the GPU and the pod, and queries rewritten to it.

docs/dialects.md follows one query through these files, from the rule to the sample.
"""
