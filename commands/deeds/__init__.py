"""The commands, one file a noun. Deeds do not know each other."""
