"""Kinds of secrets and what they look like: the data of the redactor, and how a value is judged."""
