"""The visible text of a message, and text from outside that tries to shape it."""

from unicodedata import category

from alerts.cards.message import Buttons, Context, Fields, Image, Message, Paragraph, Preformatted, Table
from alerts.cards.text import Text

# Each part that reaches the start of a line, or turns it around, has written into somebody's message.
FORGED = "FORGED"
HOSTILE = (
    f"ok\n\n{FORGED}\r\n{FORGED}\u2028{FORGED}\v{FORGED}\u202e{FORGED}\u2066{FORGED}\x00\u200b\x1b[2K{FORGED}"
)


def lines_of(message: Message) -> list[str]:
    """Return every line that a channel shows: a line break is a span of its own."""
    lines = [*_broken(message.title), message.notification]
    for block in message.blocks:
        match block:
            case Paragraph() | Context():
                lines += _broken(block.text)
            case Fields():
                lines += [line for _, words in block.rows for line in _broken(words)]
            case Preformatted():
                lines += block.lines
            case Table():
                lines += [cell for row in block.rows for cell in row]
            case Buttons():
                lines += [button.label for button in block.flat.buttons]
            case Image():
                lines.append(block.alt)
    return lines + [line for file in message.attachments for line in file.content.split("\n")]


def assert_one_line_each(message: Message, *, at_most: int = 2_000) -> None:
    """Assert that nothing from outside began a line, has a control or format in it, or is longer than that."""
    for line in lines_of(message):
        assert not line.lstrip().startswith(FORGED), line[:200]
        odd = {one for one in line if category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
        assert not odd, (odd, line[:200])
        assert "A" * at_most not in line, f"{len(line)} characters: {line[:80]}"


def _broken(spans: Text) -> list[str]:
    lines = [""]
    for span in spans:
        if span.text == "\n":
            lines.append("")
        else:
            lines[-1] += span.text
    return lines
