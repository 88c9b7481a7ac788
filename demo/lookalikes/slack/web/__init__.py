"""The Web API: one module per family of methods, and the handling of every call."""
