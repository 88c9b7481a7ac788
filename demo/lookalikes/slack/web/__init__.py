"""The Web API: one file a family of methods, and the road of every call."""
