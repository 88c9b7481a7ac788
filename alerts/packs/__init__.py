"""The shipped rules: data, a pack a file, each with its cases beside it."""
