"""Rules, alerts, incidents and cards. Pure: no client, clock or database (stores are Protocols, made in bot/store)."""
