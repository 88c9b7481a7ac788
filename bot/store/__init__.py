"""The store: transactions over all tables, in SQLite; its statements are written for PostgreSQL too."""
