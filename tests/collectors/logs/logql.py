"""Neutral matches as LogQL, after Loki's public documentation of log queries. Pure; no Loki is asked.

Line filters search the text: `|~` and `!~` take RE2. A part that mixes the text with labels becomes a label filter, in
which a `label_format` gives the text a name; label filters have `and`, `or` and parentheses, and no `not`, so it is
moved to the leaves.
"""

import re

from collectors.facts.log_match import AllOf, AnyOf, FieldPhrase, LogMatch, Not, phrases_in

_WORDS = re.compile(r"\w+")
_OTHER = r"[^\pL\pN_]"


def logql(match: LogMatch, *, selector: str = '{job=~".+"}') -> str:
    """Return the log query of a match: a stream selector, line filters, and label filters."""
    parts = match.parts if isinstance(match, AllOf) else (match,)
    lines, labels = [], []
    for part in parts:
        if (line := _line_filter(part)) is not None:
            lines.append(line)
        else:
            labels.append(_label_filter(part, is_not=False))
            if any(one.field == "message" for one in phrases_in(part)):
                lines.append('| label_format message="{{__line__}}"')
    return " ".join([selector, *dict.fromkeys(lines), *(f"| {one}" for one in labels)])


def _line_filter(part: LogMatch) -> str | None:
    """Return the line filter of a part that is of the text only; None for another."""
    match part:
        case FieldPhrase(field="message"):
            return f"|~ {_quoted(_expression([part]))}"
        case Not(part=FieldPhrase(field="message") as phrase):
            return f"!~ {_quoted(_expression([phrase]))}"
        case AnyOf(parts=parts):
            phrases = [one for one in parts if isinstance(one, FieldPhrase) and one.field == "message"]
            return f"|~ {_quoted(_expression(phrases))}" if len(phrases) == len(parts) else None
        case _:
            return None


def _label_filter(match: LogMatch, *, is_not: bool) -> str:
    match match:
        case FieldPhrase(field="message"):
            return f"message{'!~' if is_not else '=~'}{_quoted(f'(?s).*{_expression([match])}.*')}"
        case FieldPhrase():
            return f"{_label(match.field)}{'!=' if is_not else '='}{_quoted(match.text)}"
        case Not():
            return _label_filter(match.part, is_not=not is_not)
        case AllOf() | AnyOf():
            word = "and" if isinstance(match, AllOf) is not is_not else "or"
            return f"({f' {word} '.join(_label_filter(part, is_not=is_not) for part in match.parts)})"


def _expression(phrases: list[FieldPhrase]) -> str:
    """Return the RE2 expression of the texts with any of these phrases, as whole words in any case."""
    either = [_whole_words(phrase.text) for phrase in phrases]
    return f"(?i){either[0]}" if len(either) == 1 else f"(?i)({'|'.join(either)})"


def _whole_words(text: str) -> str:
    words = _WORDS.findall(text)
    return f"(^|{_OTHER}){f'{_OTHER}+'.join(words)}({_OTHER}|$)"


def _label(name: str) -> str:
    """Return a label's name: Loki replaces what it does not allow."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)


def _quoted(text: str) -> str:
    inside = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{inside}"'
