"""The ground floor: the words that every layer shares. Imports the standard library only."""
