"""The programs that are run in containers: a fixed list, how what they print is read, and how ranks are grouped."""
