"""Dialects of exporters: how their series name the node, the GPU and the pod, and queries rewritten to it."""
