"""PromQL as we read it: its tokens, its tree, and the selectors in it, each with its place in the text.

promql-parser judges whether a rule's expression is valid; it gives no places, and what it prints is not what an author
wrote. Whoever needs a part of an expression reads it here.
"""
