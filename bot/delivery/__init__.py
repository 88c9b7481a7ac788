"""Makes each chat show what should be told: cards until they match, lines once."""
