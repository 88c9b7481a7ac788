"""Elasticsearch query strings: escaping of values, and replacement of labels by document fields."""

import re
from collections.abc import Collection, Mapping, Sequence

_SPECIAL = re.compile(r'[+\-=&|!(){}\[\]^"~*?:\\/]')
_UNESCAPABLE = re.compile(r"[<>]")
_OPERATORS = re.compile(r"(?:^|(?<=\s))(AND|OR|NOT)(?=\s|$)")


def escape_query(text: str) -> str:
    """Escape the text as a literal in a query string, safe next to others: `a:b` becomes `a\\:b`.

    `<` and `>` become spaces, since Elasticsearch has no escape for them. An empty text becomes `""`.
    """
    plain = _UNESCAPABLE.sub(" ", text)
    escaped = _SPECIAL.sub(lambda found: f"\\{found.group()}", plain)
    return _OPERATORS.sub(lambda found: f"\\{found.group(1)}", escaped).strip() or '""'


def quote_query(text: str) -> str:
    """Quote the text as a phrase in a query string: `say "no"` becomes `"say \\"no\\""`."""
    inside = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'


def in_fields(match: str, fields: Mapping[str, Sequence[str]], *, whole: Collection[str] = ()) -> str:
    """Replace labels in a query string (`node:`, `message:`, `_exists_:pod`) with their document fields.

    `whole`: fields of texts that are indexed as one value: words and phrases in them become regular expressions.

    With several fields, any may hold the value: `pod:x` becomes `(a:x OR b:x)`. Text that is quoted, escaped or no
    label stays unchanged, so names of document fields work too.
    """
    out: list[str] = []
    position = 0
    while position < len(match):
        found = _FIELD.match(match, position) if _starts_here(match, position) else None
        names = fields.get(found.group(1)) if found else None
        if found and found.group(1) == "_exists_" and (known := fields.get(_name_at(match, found.end()))):
            end = found.end() + len(_name_at(match, found.end()))
            out.append(_either([f"_exists_:{escape_name(name)}" for name in known]))
        elif found and names:
            end = _end_of_clause(match, found.end())
            value = match[found.end() : end]
            out.append(
                _either(
                    [f"{escape_name(name)}:{_anywhere(value) if name in whole else value}" for name in names]
                )
            )
        else:
            end = _end_of_piece(match, position)
            out.append(match[position:end])
        position = end
    return "".join(out)


_FIELD = re.compile(r"(\w+):(?=\S)")
_NAME = re.compile(r"\w*")
_MODIFIERS = re.compile(r"(?:~\d*(?:\.\d+)?)?(?:\^\d+(?:\.\d+)?)?")


_WORDS = re.compile(r"[^\W_]+")
_NO_WORD = re.compile(r"[^0-9A-Za-z]").pattern


def _anywhere(value: str) -> str:
    """Return the expression of the values that hold these words next to each other, as an analyzed text is searched.

    Wildcards, ranges, groups and expressions stay as they are.
    """
    plain = value[1:-1] if value[:1] == '"' and value[-1:] == '"' else value
    if plain == value and re.search(r"[*?()\[\]{}<>/^~]", value):
        return value
    expression = words_anywhere(plain)
    return f"/{expression}/" if expression else value


def words_anywhere(text: str) -> str:
    """Return the expression of the values that hold these words next to each other, in any case; empty for no word."""
    words = _WORDS.findall(text)
    either_case = (
        "".join(f"[{sign.lower()}{sign.upper()}]" if sign.isalpha() else sign for sign in word)
        for word in words
    )
    inside = f"{_NO_WORD}+".join(either_case)
    return f"(.*{_NO_WORD})?{inside}({_NO_WORD}.*)?" if words else ""


def escape_name(name: str) -> str:
    """Escape a field's name for a query string; dots stay."""
    return re.sub(r'[+\-=&|!(){}\[\]^"~*?:\\/ <>]', lambda found: f"\\{found.group()}", name)


def _either(clauses: Sequence[str]) -> str:
    return clauses[0] if len(clauses) == 1 else f"({' OR '.join(clauses)})"


def _name_at(match: str, position: int) -> str:
    found = _NAME.match(match, position)
    return found.group() if found else ""


def _starts_here(match: str, position: int) -> bool:
    """Whether a field's name may start here: at the start, after whitespace, a bracket or an operator."""
    return position == 0 or match[position - 1] in " \t\n(+-!"


def _end_of_piece(match: str, position: int) -> int:
    """Return the end of the text here that is not a label: a phrase, a regular expression, an escape, a character."""
    char = match[position]
    if char == "\\":
        return min(len(match), position + 2)
    if char in '"/':
        return _closing(match, position, char)
    return position + 1


def _end_of_clause(match: str, position: int) -> int:
    """Return the end of a field's value: a phrase, a group, a range, a regular expression or a word."""
    char = match[position]
    if char in '"/':
        end = _closing(match, position, char)
    elif char in "([{":
        depth, end = 0, position
        while end < len(match):
            depth += (match[end] in "([{") - (match[end] in ")]}")
            if depth == 0:
                end += 1
                break
            end = _end_of_piece(match, end)
    else:
        end = position
        while end < len(match) and match[end] not in " \t\n()":
            end += 2 if match[end] == "\\" else 1
    modifiers = _MODIFIERS.match(match, min(end, len(match)))
    return modifiers.end() if modifiers else end


def _closing(match: str, position: int, char: str) -> int:
    end = position + 1
    while end < len(match):
        if match[end] == "\\":
            end += 2
        elif match[end] == char:
            return end + 1
        else:
            end += 1
    return len(match)
