"""The process: settings, channels, evaluation and delivery. The only package that imports all the others."""
