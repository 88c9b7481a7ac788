"""GPUs: who holds them, which do nothing, and asking for them back."""
