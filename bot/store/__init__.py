"""What is kept: one transaction over every row, on SQLite, on PostgreSQL, or in memory."""
