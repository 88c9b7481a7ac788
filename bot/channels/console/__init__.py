"""The console: cards in the log, and messages as plain text for terminals."""
