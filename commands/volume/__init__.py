"""`volume`: show who uses a volume, and freeze one that is in danger."""
