"""This file turns a message's blocks into the lines that a reader would see."""

from collections.abc import Iterator
from typing import Any


def said(message: dict[str, Any]) -> str:
    """A message as plain lines: blocks and attachments where it has them, else its text.

    Buttons are shown as `[Cordon]`, menus as `[Choose…▾]`, dividers as `---`.
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
    """What a reader sees on a button or in an empty menu."""
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
        case "rich_text":
            yield from _rich(block.get("elements") or ())
        case _:
            return


def _rich(parts: Any) -> Iterator[str]:
    for part in parts:
        inner = part.get("elements") or ()
        if part.get("type") == "rich_text_list":
            yield from (f"• {line}" for line in _rich(inner))
        else:
            yield "".join(_word(word) for word in inner)


def _word(word: dict[str, Any]) -> str:
    match word.get("type"):
        case "user":
            return f"<@{word['user_id']}>"
        case "link":
            return str(word.get("text") or word.get("url"))
        case "emoji":
            return f":{word['name']}:"
        case _:
            return str(word.get("text", ""))


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
