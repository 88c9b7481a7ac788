"""This file writes Elasticsearch query strings: values escaped, our own words turned into document fields."""

import re
from collections.abc import Mapping, Sequence

_SIGNS = re.compile(r'[+\-=&|!(){}\[\]^"~*?:\\/]')
_REFUSED = re.compile(r"[<>]")  # these cannot be escaped at all
_WORDS = re.compile(r"(?:^|(?<=\s))(AND|OR|NOT)(?=\s|$)")


def escape_query(text: str) -> str:
    """The text as a literal for a query string, safe beside others: `a:b` becomes `a\\:b`.

    `<` and `>` become spaces, since Elasticsearch has no escape for them. An empty text becomes `""`.
    """
    plain = _REFUSED.sub(" ", text)
    escaped = _SIGNS.sub(lambda found: f"\\{found.group()}", plain)
    return _WORDS.sub(lambda found: f"\\{found.group(1)}", escaped).strip() or '""'


def quote_query(text: str) -> str:
    """The text as a phrase for a query string: `say "no"` becomes `"say \\"no\\""`."""
    inside = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'


def in_fields(match: str, fields: Mapping[str, Sequence[str]]) -> str:
    """The query string with our words (`node:`, `message:`, `_exists_:pod`) replaced by document fields.

    Where a word has several fields, either may hold the value: `pod:x` becomes `(a:x OR b:x)`. What is quoted,
    escaped or not a word of ours stays as it is, so a real field's name works too.
    """
    out: list[str] = []
    place = 0
    while place < len(match):
        found = _FIELD.match(match, place) if _starts_here(match, place) else None
        names = fields.get(found.group(1)) if found else None
        if found and found.group(1) == "_exists_" and (known := fields.get(_name_at(match, found.end()))):
            end = found.end() + len(_name_at(match, found.end()))
            out.append(_either([f"_exists_:{escape_name(name)}" for name in known]))
        elif found and names:
            end = _end_of_clause(match, found.end())
            out.append(_either([f"{escape_name(name)}:{match[found.end() : end]}" for name in names]))
        else:
            end = _end_of_piece(match, place)
            out.append(match[place:end])
        place = end
    return "".join(out)


_FIELD = re.compile(r"(\w+):(?=\S)")
_NAME = re.compile(r"\w*")
_WEIGHT = re.compile(r"(?:~\d*(?:\.\d+)?)?(?:\^\d+(?:\.\d+)?)?")


def escape_name(name: str) -> str:
    """A field's name for a query string: what has a meaning there is escaped, dots stay."""
    return re.sub(r'[+\-=&|!(){}\[\]^"~*?:\\/ <>]', lambda found: f"\\{found.group()}", name)


def _either(clauses: Sequence[str]) -> str:
    return clauses[0] if len(clauses) == 1 else f"({' OR '.join(clauses)})"


def _name_at(match: str, place: int) -> str:
    found = _NAME.match(match, place)
    return found.group() if found else ""


def _starts_here(match: str, place: int) -> bool:
    """Whether a field's name may begin here: at the start, after a blank, a bracket or a sign."""
    return place == 0 or match[place - 1] in " \t\n(+-!"


def _end_of_piece(match: str, place: int) -> int:
    """The end of what stands here and is not ours: a quoted phrase, a regular expression, an escape, one sign."""
    sign = match[place]
    if sign == "\\":
        return min(len(match), place + 2)
    if sign in '"/':
        return _closing(match, place, sign)
    return place + 1


def _end_of_clause(match: str, place: int) -> int:
    """The end of a field's value: a phrase, a group, a range, a regular expression, or a word."""
    sign = match[place]
    if sign in '"/':
        end = _closing(match, place, sign)
    elif sign in "([{":
        depth, end = 0, place
        while end < len(match):
            depth += (match[end] in "([{") - (match[end] in ")]}")
            if depth == 0:
                end += 1
                break
            end = _end_of_piece(match, end)
    else:
        end = place
        while end < len(match) and match[end] not in " \t\n()":
            end += 2 if match[end] == "\\" else 1
    weight = _WEIGHT.match(match, min(end, len(match)))
    return weight.end() if weight else end


def _closing(match: str, place: int, sign: str) -> int:
    end = place + 1
    while end < len(match):
        if match[end] == "\\":
            end += 2
        elif match[end] == sign:
            return end + 1
        else:
            end += 1
    return len(match)
