"""This file undoes what Slack and phones do to a typed line: entities, links, smart quotes, long dashes."""

import re

_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_QUOTES = str.maketrans({**dict.fromkeys("“”„‟«»″＂", '"'), **dict.fromkeys("‘’‚‛′＇", "'")})
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
# Before an option's name: phones and macOS make one long dash of two short ones.
_DASHES = re.compile(r"(?:(?<=\s)|^)(?:[–—―−]+-*|-[–—―−]+)(?=[A-Za-z])")
_LONE_DASH = re.compile(r"(?:(?<=\s)|^)[–—―](?=\s|$)")  # the end of options: `--`
_MARKUP = re.compile(r"<(?P<sign>[@#!]?)(?P<target>[^<>|]+)(?:\|(?P<shown>[^<>]*))?>")
_REFERENCE = re.compile(
    r"[A-Z][A-Z0-9]+|subteam\^\w+|here|channel|everyone|date\^.*|(?:mailto|tel):.*|[a-z][a-z0-9+.-]*://.*"
)


def unescape(text: str) -> str:
    """The line as it was meant. People, groups and channels become their ids, links what was typed."""
    text = _MARKUP.sub(_meant, text)
    for entity, sign in _ENTITIES:
        text = text.replace(entity, sign)
    text = _INVISIBLE.sub("", _SPACES.sub(" ", text)).translate(_QUOTES)
    text = _LONE_DASH.sub("--", _DASHES.sub("--", text)).strip()
    for fence in ("```", "`"):
        inner = text[len(fence) : -len(fence)]
        if text.startswith(fence) and text.endswith(fence) and inner.strip() and "`" not in inner:
            return inner.strip()
    return text


def _meant(markup: re.Match[str]) -> str:
    target, shown = str(markup["target"]), str(markup["shown"] or "")
    if not _REFERENCE.fullmatch(target):
        return markup[0]  # somebody's own brackets
    if markup["sign"] in ("@", "#"):
        return target
    if markup["sign"] == "!":
        return target.removeprefix("subteam^") if target.startswith("subteam^") else shown or target
    if target.startswith(("mailto:", "tel:")):
        return shown or target.partition(":")[2]
    if shown and target.partition("://")[2].rstrip("/") == shown.rstrip("/"):
        return shown  # Slack made a link of a bare host name
    return target
