"""This file has the ways in which the store cannot be opened."""


class StoreError(Exception):
    """The store cannot be opened. The text is one line: what, where, and what to do; never a password."""


class NewerSchemaError(StoreError):
    """The database was migrated by a newer program. Nothing was changed."""
