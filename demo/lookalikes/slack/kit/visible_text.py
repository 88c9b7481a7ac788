"""The text of a message as a reader sees it."""

from collections.abc import Iterator
from typing import Any


def said(message: dict[str, Any]) -> str:
    """Return a message as plain lines: its blocks and attachments if it has any, else its text.

    Buttons appear as `[Cordon]`, menus as `[Choose…▾]`, dividers as `---`, and the cells of a
    table with ` | ` between them.
    """
    lines = list(_blocks(message.get("blocks") or ()))
    if not lines and message.get("text"):
        lines.append(message["text"])
    for attachment in message.get("attachments") or ():
        lines += _blocks(attachment.get("blocks") or ())
        lines += [str(attachment[name]) for name in ("pretext", "title", "text") if attachment.get(name)]
    lines += [f"📎 {file['name']}" for file in message.get("files") or ()]
    return "\n".join(lines)


def label_of(element: dict[str, Any]) -> str:
    """Return the label of a button or of an empty menu."""
    part = element.get("text") or element.get("placeholder") or {}
    return str(part.get("text", "")) if isinstance(part, dict) else str(part)


def _blocks(blocks: Any) -> Iterator[str]:
    for block in blocks:
        yield from _block(block)


def _block(block: dict[str, Any]) -> Iterator[str]:
    match block.get("type"):
        case "header":
            yield f"# {block['text']['text']}"
        case "divider":
            yield "---"
        case "section":
            if block.get("text"):
                yield block["text"]["text"]
            for field in block.get("fields") or ():
                yield field["text"]
            if block.get("accessory"):
                yield _element(block["accessory"])
        case "context":
            yield " ".join(_element(element) for element in block["elements"])
        case "actions":
            yield " ".join(_element(element) for element in block["elements"])
        case "input":
            yield f"{block['label']['text']}: {_element(block['element'])}"
        case "image":
            yield f"[image: {block['alt_text']}]"
        case "table":
            for row in block["rows"]:
                yield " | ".join(_cell(cell) for cell in row)
        case "rich_text":
            yield from _rich(block.get("elements") or ())
        case _:
            return


def _cell(cell: dict[str, Any]) -> str:
    return str(cell["text"]) if cell["type"] == "raw_text" else " ".join(_rich(cell["elements"]))


def _rich(parts: Any) -> Iterator[str]:
    for part in parts:
        inner = part.get("elements") or ()
        if part.get("type") == "rich_text_list":
            yield from (f"• {line}" for line in _rich(inner))
        else:
            yield "".join(_rich_element(element) for element in inner)


def _rich_element(element: dict[str, Any]) -> str:
    match element.get("type"):
        case "user":
            return f"<@{element['user_id']}>"
        case "link":
            return str(element.get("text") or element.get("url"))
        case "emoji":
            return f":{element['name']}:"
        case "date":
            return str(element.get("fallback") or element["timestamp"])
        case _:
            return str(element.get("text", ""))


def _element(element: dict[str, Any]) -> str:
    match element.get("type"):
        case "mrkdwn" | "plain_text":
            return str(element["text"])
        case "image":
            return f"[image: {element['alt_text']}]"
        case "button":
            return f"[{label_of(element)}]"
        case "overflow":
            return "[…]"
        case _:
            return f"[{label_of(element)}▾]"
