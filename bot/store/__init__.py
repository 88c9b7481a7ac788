"""The store: transactions over all tables, in SQLite, PostgreSQL or memory."""
