"""Text as Slack's mrkdwn: each span is escaped once, so text from outside never becomes markup."""

import re
from datetime import datetime

from alerts.cards.sentence_spans import WIDE
from alerts.cards.text import Span, Style, Text

_PERSON = re.compile(r"[UW][A-Z0-9]{2,}")
_GROUP = re.compile(r"S[A-Z0-9_]{2,}")
_CHANNEL = re.compile(r"[CGD][A-Z0-9]{2,}")
DATE = "{date_short_pretty} {time}"
_MARKS = frozenset("*`")
_INVISIBLE = "\u200b"


def escaped(text: str) -> str:
    """Escape Slack's three control characters. Source: docs.slack.dev, formatting text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mrkdwn(text: Text) -> str:
    written = ""
    for span in text:
        piece = _span(span)
        written += f"{_gap(written, piece)}{piece}"
    return written


def _gap(before: str, after: str) -> str:
    """Return the space that Slack needs around a mark beside another, or beside letters written without spaces."""
    start, end = before[-1:], after[:1]
    return (
        " "
        if (start in _MARKS and (end == "*" or WIDE.match(end))) or (end in _MARKS and WIDE.match(start))
        else ""
    )


def fenced(text: str) -> str:
    """Return the text in a code block; a fence inside it is broken by an invisible character."""
    return f"```{escaped(text).replace('```', f'``{_INVISIBLE}`')}```"


def cut(text: str, most: int) -> str:
    """Return the text, or its beginning and `…`."""
    if len(text) <= most:
        return text
    return f"{text[: most - 1]}…"


def escaped_within(text: str, most: int) -> str:
    """Return the escaped text, cut to at most `most` characters after escaping: a `<` alone becomes four."""
    whole = escaped(text)
    if len(whole) <= most:
        return whole
    return f"{escaped(_fitting(text, most - 1))}…"


def cut_spans(text: Text, most: int) -> Text:
    """Return the text cut to `most` characters of mrkdwn, between or inside spans and never inside markup."""
    if len(mrkdwn(text)) <= most:
        return text
    tail = Span("…")
    shown = list[Span]()
    room = most - len(tail.text)
    for span in text:
        piece = _span(span)
        size = len(_gap(mrkdwn(tuple(shown[-1:])), piece)) + len(piece)
        if size > room:
            if span.style in (Style.PLAIN, Style.BOLD, Style.CODE):
                short = Span(_fitting(span.text, room - (size - len(escaped(span.text)))), span.style)
                shown += [short] if short.text else []
            break
        shown.append(span)
        room -= size
    return (*shown, tail)


def _fitting(text: str, room: int) -> str:
    """Return as much of the text as fits once it is escaped."""
    used = 0
    for number, character in enumerate(text):
        used += len(escaped(character))
        if used > room:
            return text[:number]
    return text


def _span(span: Span) -> str:
    words = escaped(span.text)
    match span.style:
        case Style.PLAIN:
            return _unmarked(words)
        case Style.BOLD:
            return _bold(_one_line(words).replace("*", "∗"))
        case Style.CODE:
            return f"`{_one_line(words).replace('`', 'ˋ')}`" if words.strip() else words
        case Style.LINK:
            target = escaped(span.target).replace("|", "%7C").replace(" ", "%20")
            return f"<{target}|{_one_line(words).replace('|', '¦')}>" if _is_link(target) else words
        case Style.PERSON:
            return f"<@{span.target}>" if _PERSON.fullmatch(span.target) else _unmarked(words)
        case Style.GROUP:
            return f"<!subteam^{span.target}>" if _GROUP.fullmatch(span.target) else _unmarked(words)
        case Style.CHANNEL:
            return f"<#{span.target}>" if _CHANNEL.fullmatch(span.target) else _unmarked(words)
        case Style.MOMENT:
            return _moment(span, words)


def _bold(words: str) -> str:
    """Slack only accepts stars that touch the text, so spaces at the ends stay outside."""
    bare = words.strip()
    if not bare:
        return words
    before, _, after = words.partition(bare)
    return f"{before}*{bare}*{after}"


def _moment(span: Span, words: str) -> str:
    try:
        stamp = int(datetime.fromisoformat(span.target).timestamp())
    except ValueError:
        return words
    return f"<!date^{stamp}^{DATE}|{words.replace('|', '¦') or span.target}>"


def _unmarked(words: str) -> str:
    """Add invisible characters so that Slack does not read plain text as bold, code or strikethrough."""
    return re.sub(r"(?<!\w)([*_~`])(?=\S)", rf"{_INVISIBLE}\1{_INVISIBLE}", words)


def _one_line(words: str) -> str:
    return " ".join(words.split("\n"))


def _is_link(target: str) -> bool:
    return target.startswith(("http://", "https://", "mailto:"))
