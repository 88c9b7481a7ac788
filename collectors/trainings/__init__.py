"""Reading each kind of training, one file a kind."""
