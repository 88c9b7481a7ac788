"""The language of what people read: phrases of the code with their translations, and messages in that language."""
