"""Arguments of a Web API call, from query, form or JSON."""

import json
from typing import Any

from aiohttp import web

from demo.lookalikes.slack.web.errors import SlackError, invalid_blocks


class Arguments:
    """The arguments of one call, by name. JSON in strings is decoded where a structure is expected."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given

    def text(self, name: str, default: str = "") -> str:
        """Return a string, or `default` when it was not given."""
        value = self.given.get(name)
        return default if value is None else str(value)

    def need(self, name: str) -> str:
        """Return a required string; raise `invalid_arguments` when it is missing."""
        if not self.text(name):
            messages = [f"[ERROR] missing required field: {name}"]
            raise SlackError("invalid_arguments", response_metadata={"messages": messages})
        return self.text(name)

    def flag(self, name: str) -> bool:
        """Whether a switch is on (`true`, `1`)."""
        return str(self.given.get(name, "")).lower() in ("true", "1")

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 1 to `most`; larger ones are capped."""
        raw = self.given.get(name)
        if raw in (None, ""):
            return default
        try:
            value = int(str(raw))
        except ValueError:
            raise SlackError(
                "invalid_arguments", response_metadata={"messages": [f"[ERROR] {name}"]}
            ) from None
        if value < 1:
            raise SlackError("invalid_limit")
        return min(value, most)

    def part(self, name: str) -> Any:
        """Return a structure, None when it was not given; raise the argument's own error for broken JSON."""
        value = self.given.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise _unreadable(name) from None

    def blocks(self) -> list[dict[str, Any]] | None:
        """Return the `blocks`, None when they were not given."""
        value = self.part("blocks")
        if value is not None and not isinstance(value, list):
            raise _unreadable("blocks")
        return value


def _unreadable(name: str) -> SlackError:
    if name == "blocks":
        return invalid_blocks(
            ["must provide valid JSON array [json-pointer:/blocks]"], error="invalid_blocks_format"
        )
    if name == "metadata":
        return SlackError("invalid_metadata_format")
    if name == "attachments":
        return SlackError("invalid_attachments")
    return SlackError(
        "invalid_arguments", response_metadata={"messages": [f"[ERROR] {name} is not valid JSON"]}
    )


async def read_arguments(request: web.Request) -> dict[str, Any]:
    """Return all arguments of a request; raise SlackError when the body does not match its content type."""
    given: dict[str, Any] = dict(request.query)
    if request.method == "GET":
        return given
    kind = request.content_type
    if kind == "application/json":
        try:
            body = json.loads(await request.text() or "{}")
        except ValueError:
            raise SlackError("invalid_json") from None
        if not isinstance(body, dict):
            raise SlackError("json_not_object")
        # A token in JSON is ignored: it belongs in the Authorization header.
        body.pop("token", None)
        return given | body
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        form = await request.post()
        return given | {name: value for name, value in form.items() if isinstance(value, str)}
    if request.can_read_body:
        raise SlackError("invalid_form_data")
    return given


def token_of(request: web.Request, given: dict[str, Any]) -> str:
    """Return the token of a call, from its header or its form; empty when there is none."""
    header = request.headers.get("Authorization", "")
    if header.startswith("Bearer "):
        return header.removeprefix("Bearer ").strip()
    return str(given.get("token", ""))
