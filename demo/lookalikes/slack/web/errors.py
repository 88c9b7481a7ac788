"""This file names the ways in which Slack says no."""

from collections.abc import Mapping
from typing import Any


class SlackError(Exception):
    """An answer with `ok: false`.

    Args:
        error: Slack's word for it, such as `channel_not_found`.
        status: the HTTP status; Slack says no with 200 for most things.
        headers: such as Retry-After.
        more: other fields of the answer.
    """

    def __init__(
        self, error: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.headers = dict(headers or {})
        self.more = more

    def wire(self) -> dict[str, Any]:
        """The body of the answer."""
        return {"ok": False, "error": self.error, **self.more}


def invalid_blocks(diagnostics: list[str], *, error: str = "invalid_blocks") -> SlackError:
    """Blocks that break the rules, each with its place."""
    return SlackError(
        error,
        errors=diagnostics,
        response_metadata={"messages": [f"[ERROR] {words}" for words in diagnostics]},
    )
