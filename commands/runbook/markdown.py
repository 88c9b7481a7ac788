"""Markdown pages as neutral messages: headings, paragraphs, lists, fences, code, bold text and links. Pure."""

import re
from collections.abc import Iterator

from alerts.cards.message import Block, Paragraph, Preformatted
from alerts.cards.text import Span, Text, bold, code, joined, link, text

_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`|\*\*(?P<bold>[^*\n]+)\*\*|\[(?P<words>[^\]\n]+)\]\((?P<target>[^)\s]+)\)"
    r"|<(?P<address>https?://[^>\s]+)>"
)
_FENCE = re.compile(r"```.*?\n(?P<inside>.*?)\n?```", re.DOTALL)
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ", re.MULTILINE)


def title_and_blocks(page: str) -> tuple[str, tuple[Block, ...]]:
    """Return the page's heading, and its sections; each begins with its own heading in bold."""
    head, _, rest = page.strip().partition("\n")
    return head.lstrip("# "), tuple(_blocks(rest))


def _blocks(page: str) -> Iterator[Block]:
    """Each heading goes with the first paragraph under it, so that no line stands alone."""
    heading: Text = ()
    for part in _parts(page):
        if part.startswith("#"):
            if heading:
                yield Paragraph(text=heading)
            heading = text(bold(part.lstrip("# ").strip()))
        elif part.startswith("```"):
            if heading:
                yield Paragraph(text=heading)
            yield Preformatted(lines=tuple(_inside(part).splitlines()))
            heading = ()
        else:
            yield Paragraph(text=text(heading, "\n", _prose(part)) if heading else _prose(part))
            heading = ()
    if heading:
        yield Paragraph(text=heading)


def _parts(page: str) -> Iterator[str]:
    """Yield headings, fences and paragraphs."""
    rest = page
    while (fence := _FENCE.search(rest)) is not None:
        yield from _prose_parts(rest[: fence.start()])
        yield fence[0]
        rest = rest[fence.end() :]
    yield from _prose_parts(rest)


def _prose_parts(prose: str) -> Iterator[str]:
    return (part.strip() for part in re.split(r"\n\s*\n", prose) if part.strip())


def _inside(fence: str) -> str:
    found = _FENCE.fullmatch(fence)
    return found["inside"] if found else fence


def _prose(paragraph: str) -> Text:
    """A paragraph is one line, a list one for each item."""
    if not _ITEM.match(paragraph):
        return _inline(paragraph)
    items = re.split(r"\n(?=(?:[-*]|\d+\.) )", paragraph)
    return joined("\n", (text("• ", _inline(_ITEM.sub("", item, count=1))) for item in items))


def _inline(words: str) -> Text:
    line = " ".join(words.split())
    spans: list[str | Span] = []
    end = 0
    for found in _INLINE.finditer(line):
        spans += [line[end : found.start()], _span(found)]
        end = found.end()
    return text(*spans, line[end:])


def _span(found: re.Match[str]) -> Span:
    if found["code"]:
        return code(found["code"])
    if found["bold"]:
        return bold(found["bold"])
    if found["address"]:
        return link(found["address"], found["address"])
    if found["target"].startswith(("https://", "http://")):
        return link(found["target"], found["words"])
    return code(f"runbook {found['target'].removesuffix('.md')}")
