"""The shipped rules as data: one file per pack, with its test cases next to it."""
