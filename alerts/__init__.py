"""WHAT MATTERS. Pure: no client, no clock, no database (stores are Protocols here, made in bot/store)."""
