"""Validation of message content: posts, edits, ephemerals and responses."""

import re
from collections.abc import Iterator
from typing import Any

from demo.lookalikes.slack.kit.blocks import is_too_large, mistakes_in_blocks, size_in_bytes
from demo.lookalikes.slack.kit.shapes import diagnostic
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.errors import SlackError, invalid_blocks
from demo.lookalikes.slack.web.uploads import can_be_shown

_TS = re.compile(r"\d{1,10}\.\d{6}")


def content_of(workspace: Workspace, args: Arguments) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the content of a message and the extra fields of the response.

    The content is text, blocks, attachments and metadata, those that were given; the extra fields are a warning
    when the text was cut. Raise SlackError when the content is empty, too large or invalid.
    """
    content: dict[str, Any] = {}
    more: dict[str, Any] = {}
    if "text" in args.given:
        content["text"] = args.text("text")
    blocks = args.blocks()
    if blocks is not None:
        judge_blocks(workspace, blocks)
        content["blocks"] = blocks
    attachments = args.part("attachments")
    if attachments is not None:
        content["attachments"] = _attachments(workspace, attachments)
    metadata = args.part("metadata")
    if metadata is not None:
        content["metadata"] = _metadata(workspace, metadata)
    _judge_tables(workspace, content)
    if not any(content.get(name) for name in ("text", "blocks", "attachments")):
        raise SlackError("no_text")
    most = workspace.limits["message_text"]
    if len(content.get("text", "")) > most:
        content["text"] = content["text"][:most]
        cut = f"The `text` field accepts up to {most:,} characters."
        warning = f"[WARN] Your message was truncated but still posted. {cut}"
        more = {"warning": "message_truncated"}
        more["response_metadata"] = {"messages": [warning], "warnings": ["message_truncated"]}
    return content, more


def _judge_tables(workspace: Workspace, content: dict[str, Any]) -> None:
    """Raise `invalid_attachments` when the blocks and the attachments together have too many tables."""
    parts = [
        content.get("blocks") or [],
        *(one.get("blocks") or [] for one in content.get("attachments") or []),
    ]
    tables = [block for part in parts for block in part if block["type"] == "table"]
    if len(tables) > workspace.limits["tables_per_message"]:
        raise SlackError(
            "invalid_attachments", response_metadata={"messages": ["[ERROR] only_one_table_allowed"]}
        )


def judge_blocks(workspace: Workspace, blocks: list[dict[str, Any]]) -> None:
    """Raise `invalid_blocks` with the location of each error, or `msg_blocks_too_long`."""
    if diagnostics := mistakes_in_blocks(blocks, workspace.limits):
        raise invalid_blocks(diagnostics)
    if unusable := list(_unusable_files(workspace, blocks, "/blocks")):
        raise invalid_blocks([diagnostic("invalid slack file", pointer) for pointer in unusable])
    if is_too_large(blocks, workspace.limits):
        raise SlackError("msg_blocks_too_long")


def _unusable_files(workspace: Workspace, part: Any, pointer: str) -> Iterator[str]:
    """Yield where a block shows a file that Slack would refuse."""
    if isinstance(part, list):
        for index, inner in enumerate(part):
            yield from _unusable_files(workspace, inner, f"{pointer}/{index}")
    elif isinstance(part, dict):
        for name, inner in part.items():
            if name == "slack_file" and part.get("type") == "image":
                if not can_be_shown(workspace, inner):
                    yield f"{pointer}/slack_file"
            else:
                yield from _unusable_files(workspace, inner, f"{pointer}/{name}")


def thread_of(args: Arguments) -> dict[str, Any]:
    """Return `thread_ts`, and the subtype of a reply that is broadcast; raise SlackError for an invalid ts."""
    thread = args.text("thread_ts")
    if not thread:
        return {}
    if not _TS.fullmatch(thread):
        raise SlackError("invalid_thread_ts")
    found: dict[str, Any] = {"thread_ts": thread}
    return found | {"subtype": "thread_broadcast"} if args.flag("reply_broadcast") else found


def _attachments(workspace: Workspace, attachments: Any) -> list[dict[str, Any]]:
    if not isinstance(attachments, list) or not all(isinstance(one, dict) for one in attachments):
        raise SlackError("invalid_attachments")
    if len(attachments) > workspace.limits["attachments_per_message"]:
        raise SlackError("too_many_attachments")
    for attachment in attachments:
        if attachment.get("blocks"):
            judge_blocks(workspace, attachment["blocks"])
    return attachments


def _metadata(workspace: Workspace, metadata: Any) -> dict[str, Any]:
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise SlackError("invalid_metadata_format")
    if not isinstance(metadata.get("event_payload"), dict) or set(metadata) - {
        "event_type",
        "event_payload",
        "entities",
    }:
        raise SlackError("invalid_metadata_schema")
    if size_in_bytes(metadata) > workspace.limits["metadata_bytes"]:
        raise SlackError("metadata_too_large")
    return metadata
