"""Errors as Slack returns them."""

from collections.abc import Mapping
from typing import Any


class SlackError(Exception):
    """A response with `ok: false` and an error such as `channel_not_found`.

    Slack sends most errors with HTTP status 200. `headers` are such as Retry-After, `more` other response fields.
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
        """Return the body of the response."""
        return {"ok": False, "error": self.error, **self.more}


def invalid_blocks(diagnostics: list[str], *, error: str = "invalid_blocks") -> SlackError:
    """Return the error for invalid blocks, with the location of each error."""
    return SlackError(
        error,
        errors=diagnostics,
        response_metadata={"messages": [f"[ERROR] {each}" for each in diagnostics]},
    )
