"""Writing each kind of training, one file a kind; and whether it will fit."""
