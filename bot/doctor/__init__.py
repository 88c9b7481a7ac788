"""The doctor: asks each source and channel of the settings what is missing, and says how to fix it."""
