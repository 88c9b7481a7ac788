"""Unescaping: undoes what Slack and phones do to a typed line (entities, links, smart quotes, long dashes)."""

import re

_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_QUOTES = str.maketrans({**dict.fromkeys("“”„‟«»″＂", '"'), **dict.fromkeys("‘’‚‛′＇", "'")})
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
# Before an option's name: phones and macOS replace two hyphens by one long dash.
_DASHES = re.compile(r"(?:(?<=\s)|^)(?:[–—―−]+-*|-[–—―−]+)(?=[A-Za-z])")
_LONE_DASH = re.compile(r"(?:(?<=\s)|^)[–—―](?=\s|$)")  # the end of options: `--`
_MARKUP = re.compile(r"<(?P<sign>[@#!]?)(?P<target>[^<>|]+)(?:\|(?P<shown>[^<>]*))?>")
_REFERENCE = re.compile(
    r"[A-Z][A-Z0-9]+|subteam\^\w+|here|channel|everyone|date\^.*|(?:mailto|tel):.*|[a-z][a-z0-9+.-]*://.*"
)


def unescape(text: str) -> str:
    """Return the line as it was typed. People, groups and channels become their ids, links their typed text."""
    text = _MARKUP.sub(_typed, text)
    for entity, sign in _ENTITIES:
        text = text.replace(entity, sign)
    text = _INVISIBLE.sub("", _SPACES.sub(" ", text)).translate(_QUOTES)
    text = _LONE_DASH.sub("--", _DASHES.sub("--", text)).strip()
    for fence in ("```", "`"):
        inner = text[len(fence) : -len(fence)]
        if text.startswith(fence) and text.endswith(fence) and inner.strip() and "`" not in inner:
            return inner.strip()
    return text


def _typed(markup: re.Match[str]) -> str:
    target, shown = str(markup["target"]), str(markup["shown"] or "")
    if not _REFERENCE.fullmatch(target):
        return markup[0]  # brackets that the person typed
    if markup["sign"] in ("@", "#"):
        return target
    if markup["sign"] == "!":
        return target.removeprefix("subteam^") if target.startswith("subteam^") else shown or target
    if target.startswith(("mailto:", "tel:")):
        return shown or target.partition(":")[2]
    if shown and target.partition("://")[2].rstrip("/") == shown.rstrip("/"):
        return shown  # Slack turned a bare host name into a link
    return target
