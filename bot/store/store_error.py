"""Errors of the store."""


class StoreError(Exception):
    """The store cannot be used. The text is one line with what, where and what to do; never a password."""
