"""Rendering of messages for Slack: text, Block Kit, a coloured bar, files."""

from dataclasses import dataclass, field, replace

from alerts.cards.message import (
    Attachment,
    Block,
    Buttons,
    Color,
    Context,
    Fields,
    Image,
    Message,
    Paragraph,
    Preformatted,
    Table,
)
from alerts.cards.text import Style, Text, plain
from bot.channels.plain_text import in_full
from bot.channels.slack import block_limits
from bot.channels.slack.elements import SlackJson, action_elements
from bot.channels.slack.fitting import fitting
from bot.channels.slack.markup import cut, cut_spans, escaped, escaped_within, fenced, mrkdwn
from bot.channels.slack.native_tables import largest_table, native_table
from bot.channels.slack.slack_message import SlackMessage
from bot.channels.slack.table_layout import aligned, layout
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.language.translation import translated, translated_text
from collectors.facts.sentences import counted, sentence

COLOURS = {
    Color.CRITICAL: "#d72b3f",
    Color.WARNING: "#e8912d",
    Color.INFO: "#1d7fb8",
    Color.GOOD: "#2eb67d",
    Color.BUSY: "#7c5cd6",
    Color.QUIET: "#9a9a9a",
}


@dataclass(slots=True)
class _Page:
    """The blocks so far, and the files with what was left out of them."""

    catalogue: Catalogue
    blocks: list[SlackJson] = field(default_factory=list)
    files: list[Attachment] = field(default_factory=list)
    elements: int = 0  # buttons and menus
    own_table: Table | None = None  # the one that is a table of Slack's own
    is_cut: bool = False  # words are shorter than they are

    def fitting(self, words: Text, most: int) -> str:
        """Return the words within Slack's limit."""
        shown = cut_spans(words, most)
        self.is_cut = self.is_cut or shown != words
        return mrkdwn(shown)


def render_line(content: Text, catalogue: Catalogue = ENGLISH) -> SlackMessage:
    """Render a reply in a thread: text only. What is cut is attached in full."""
    words = translated_text(content, catalogue)
    shown = cut_spans(words, block_limits.TEXT)
    whole = (Attachment(name="reply.txt", content=plain(words)),) if shown != words else ()
    return SlackMessage(text=mrkdwn(shown), files=whole)


def render(message: Message, catalogue: Catalogue = ENGLISH) -> SlackMessage:
    """Render the message within Slack's limits. Content that is cut is marked and attached in full."""
    message = translated(message, catalogue)
    page = _Page(catalogue, own_table=largest_table(message.blocks))
    for block in message.blocks:
        page.blocks += _rendered(block, page)
    title = _section(f"*{page.fitting(_not_bold(message.title), 1000)}*")
    shown, left_out = fitting(page.blocks)
    whole = Attachment(name="card.txt", content=in_full(message, catalogue))
    is_cut = left_out > 0 or page.is_cut
    if left_out:
        shown.append(
            _note(
                counted(
                    "… {count} more part: see the attached card.txt",
                    "… {count} more parts: see the attached card.txt",
                    count=left_out,
                ),
                page,
            )
        )
    elif page.is_cut:
        shown.append(_note(sentence("… shortened: see the attached card.txt"), page))
    body = {"color": COLOURS[message.color], "fallback": cut(message.notification, 1000), "blocks": shown}
    return SlackMessage(
        text=escaped_within(message.notification, block_limits.TEXT) or "…",
        blocks=(title,) if message.title else (),
        attachments=(body,) if shown else (),
        files=(*message.attachments, *page.files, *((whole,) if is_cut else ())),
        whole=whole,
    )


def render_view(message: Message, catalogue: Catalogue = ENGLISH) -> list[SlackJson]:
    """Render the message as the blocks of a view: it has neither a color nor files nor tables of Slack's own.

    A paragraph of one bold span is the heading of what follows.
    """
    message = translated(message, catalogue)
    page = _Page(catalogue)
    for block in message.blocks:
        if isinstance(block, Paragraph) and [span.style for span in block.text] == [Style.BOLD]:
            page.blocks += [{"type": "divider"}, _header(plain(block.text))]
        else:
            page.blocks += _rendered(block, page)
    shown, left_out = fitting(page.blocks, most=block_limits.BLOCKS_IN_VIEW)
    if left_out:
        shown.append(_note(counted("… {count} more part", "… {count} more parts", count=left_out), page))
    return [_header(plain(message.title)), *shown]


def _header(words: str) -> SlackJson:
    shown = cut(words, block_limits.HEADER) or "…"
    return {"type": "header", "text": {"type": "plain_text", "text": shown, "emoji": True}}


def _not_bold(title: Text) -> Text:
    """Return the title without bold spans: the whole title is bold, and nested bold would end it."""
    return tuple(replace(span, style=Style.PLAIN) if span.style is Style.BOLD else span for span in title)


def _rendered(block: Block, page: _Page) -> list[SlackJson]:
    match block:
        case Paragraph(text=words):
            return [_section(page.fitting(words, block_limits.SECTION))] if plain(words).strip() else []
        case Context(text=words):
            return [_context(page.fitting(words, block_limits.CONTEXT))] if plain(words).strip() else []
        case Fields():
            return _fields(block, page)
        case Preformatted(lines=lines):
            return _fixed(list(lines), page, "quote.txt", "\n".join(lines) + "\n")
        case Table():
            return _table(block, page)
        case Buttons():
            return _actions(block, page)
        case Image():
            alt = cut(block.alt, block_limits.IMAGE_ALT) or "…"
            return [{"type": "image", "slack_file": {"id": block.file}, "alt_text": alt}]


def _fields(block: Fields, page: _Page) -> list[SlackJson]:
    fields = []
    for name, value in block.rows:
        head = f"*{escaped_within(name, 200)}*\n"
        words = page.fitting(value, block_limits.FIELD - len(head))
        fields.append({"type": "mrkdwn", "text": head + (words if words.strip() else "–")})
    rows = [
        fields[start : start + block_limits.FIELDS] for start in range(0, len(fields), block_limits.FIELDS)
    ]
    return [{"type": "section", "fields": row} for row in rows]


def _table(table: Table, page: _Page) -> list[SlackJson]:
    if not table.rows:
        return [_note(sentence("none (… {more} more)", more=table.more) if table.more else "none", page)]
    if table is page.own_table and (found := native_table(table)) is not None:
        native, left_out = found
        blocks = [native, *(_left_out(left_out, page, "table.txt", aligned(table)) if left_out else ())]
    else:
        blocks = _fixed(layout(table).split("\n"), page, "table.txt", aligned(table))
    return (
        [*blocks, _note(counted("… {count} more row", "… {count} more rows", count=table.more), page)]
        if table.more
        else blocks
    )


def _fixed(lines: list[str], page: _Page, name: str, whole: str) -> list[SlackJson]:
    """Return the lines in fixed width; if some do not fit, the count is shown and the whole is attached."""
    room, shown = block_limits.SECTION - 100, list[str]()
    for line in lines:
        short = cut(line, 1000)
        room -= len(escaped(short).replace("```", "``\u200b`")) + 1
        if room < 0:
            break
        shown.append(short)
    left_out = len(lines) - len(shown)
    blocks = [_section(fenced("\n".join(shown)))] if any(line.strip() for line in shown) else []
    is_cut = left_out or any(len(line) > 1000 for line in shown)
    return [*blocks, *_left_out(left_out, page, name, whole)] if is_cut else blocks


def _left_out(count: int, page: _Page, name: str, whole: str) -> list[SlackJson]:
    """Attach the whole, and return the note that says so."""
    number = sum(file.name.endswith(name) for file in page.files)
    name = f"{number + 1}-{name}" if number else name
    page.files.append(Attachment(name=name, content=whole))
    return [
        _note(
            counted(
                "… {count} more line: see the attached {file}",
                "… {count} more lines: see the attached {file}",
                count=count,
                file=name,
            ),
            page,
        )
    ]


def _actions(block: Buttons, page: _Page) -> list[SlackJson]:
    elements, too_long = action_elements(block, page.elements)
    page.elements += len(elements)
    rows = [
        elements[start : start + block_limits.BUTTONS]
        for start in range(0, len(elements), block_limits.BUTTONS)
    ]
    return [
        *({"type": "actions", "elements": row} for row in rows),
        *(
            _note(sentence("“{label}” is too long for a button: type it", label=escaped(label)), page)
            for label in too_long
        ),
    ]


def _section(words: str) -> SlackJson:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words}}


def _note(words: str, page: _Page) -> SlackJson:
    return _context(page.catalogue.say(words))


def _context(words: str) -> SlackJson:
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": words}]}
