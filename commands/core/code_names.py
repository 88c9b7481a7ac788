"""Names within a sentence that are code, each for itself, such as `node list`, `node show`."""

from collections.abc import Iterable

from collectors.facts.sentences import Joint, Listed, listed, sentence


def as_code(names: Iterable[str], joint: Joint = ",") -> Listed:
    """Return the names, each as code: an argument has no backticks of its own."""
    return listed((sentence("`{name}`", name=name) for name in names), joint)
