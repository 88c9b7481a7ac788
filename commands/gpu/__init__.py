"""`gpu`: list GPUs, find idle ones, and ask their owners to give them back."""
