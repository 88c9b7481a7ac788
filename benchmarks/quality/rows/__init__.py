"""One file for each measure, by the name of its data set."""
