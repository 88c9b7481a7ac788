"""This file cuts an answer down to the paths that were asked for, as the parameter `filter_path` does."""

from typing import Any

_NOTHING = object()


def kept(answer: Any, paths: list[str]) -> Any:
    """The parts of the answer on one of the paths; `*` is any one name. What is left empty is left out."""
    found = _kept(answer, [path.split(".") for path in paths])
    return {} if found is _NOTHING else found


def _kept(part: Any, paths: list[list[str]]) -> Any:
    if any(not path for path in paths):
        return part
    if isinstance(part, list):
        inside = [found for one in part if (found := _kept(one, paths)) is not _NOTHING]
        return inside or _NOTHING
    if not isinstance(part, dict):
        return _NOTHING
    left = {}
    for name, value in part.items():
        further = [path[1:] for path in paths if path[0] in (name, "*")]
        if further and (found := _kept(value, further)) is not _NOTHING:
            left[name] = found
    return left or _NOTHING
