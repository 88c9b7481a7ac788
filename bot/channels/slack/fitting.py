"""Fitting of blocks into a message or a view: Slack limits their number and their characters."""

from collections.abc import Iterator
from typing import Any

from bot.channels.slack import block_limits
from bot.channels.slack.elements import SlackJson

RESERVED = 2  # blocks: the title, and the note that something is left out


def fitting(blocks: list[SlackJson], most: int = block_limits.BLOCKS) -> tuple[list[SlackJson], int]:
    """Return the blocks that fit and how many do not. Buttons are always kept."""
    count, room = most - RESERVED, block_limits.CHARACTERS
    for block in blocks:
        if block["type"] == "actions":
            count, room = count - 1, room - _size(block)
    shown: list[SlackJson] = []
    left_out = 0
    for block in blocks:
        if block["type"] == "actions":
            shown.append(block)
        elif not left_out and count > 0 and room >= _size(block):
            shown.append(block)
            count, room = count - 1, room - _size(block)
        else:
            left_out += 1
    return shown, left_out


def _size(block: SlackJson) -> int:
    return block_limits.BLOCK_COSTS + sum(len(words) for words in _words_in(block))


def _words_in(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("text"), str):
            yield part["text"]
        for inner in part.values():
            yield from _words_in(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _words_in(inner)
