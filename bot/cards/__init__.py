"""Kinds of cards, one file each: which card is wanted, what it shows, and which rows it depends on."""
