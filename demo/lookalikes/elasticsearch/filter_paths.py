"""The parameter `filter_path`, which reduces an answer to some of its paths."""

from typing import Any

_NOTHING = object()


def filtered(answer: Any, paths: list[str]) -> Any:
    """The parts of the answer on any of the paths, without empty parts; `*` matches one name."""
    found = _filtered(answer, [path.split(".") for path in paths])
    return {} if found is _NOTHING else found


def _filtered(part: Any, paths: list[list[str]]) -> Any:
    if any(not path for path in paths):
        return part
    if isinstance(part, list):
        inside = [found for one in part if (found := _filtered(one, paths)) is not _NOTHING]
        return inside or _NOTHING
    if not isinstance(part, dict):
        return _NOTHING
    result = {}
    for name, value in part.items():
        rest = [path[1:] for path in paths if path[0] in (name, "*")]
        if rest and (found := _filtered(value, rest)) is not _NOTHING:
            result[name] = found
    return result or _NOTHING
