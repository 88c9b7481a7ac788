"""The language of what people read: its catalogue, and messages in it."""
