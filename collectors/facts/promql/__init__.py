"""PromQL as we read it: its tokens, its tree, and the selectors in it, each with its place in the text.

promql-parser judges whether a rule's expression is valid. What else is asked of an expression is asked here.
"""
