"""HTTP mode: signed requests to the app's request URL, and their responses."""

import hashlib
import hmac
import json
from typing import Any
from urllib.parse import urlencode

import aiohttp

from demo.lookalikes.slack.delivery.envelopes import Envelope
from demo.lookalikes.slack.state.workspace import Workspace


class Requests:
    """Sends envelopes to one request URL, as Slack does without Socket Mode."""

    def __init__(self, workspace: Workspace, session: aiohttp.ClientSession, url: str) -> None:
        self._workspace = workspace
        self._session = session
        self.url = url

    async def verify(self) -> None:
        """Send the `url_verification` challenge; raise ValueError when the app does not return it."""
        challenge = self._workspace.new_id("challenge")
        body = json.dumps({"type": "url_verification", "token": "lookalike", "challenge": challenge})
        status, answer, _ = await self._post(body, "application/json", {})
        returned = answer.get("challenge") if isinstance(answer, dict) else answer
        if status != 200 or returned != challenge:
            raise ValueError(
                f"{self.url} answered the challenge with {status} {answer!r}; it must return the challenge"
            )

    async def deliver(
        self, envelope: Envelope, attempt: int, reason: str
    ) -> tuple[str, str, dict[str, Any] | None]:
        """Post an envelope; the result means the same as in Socket Mode."""
        headers = {}
        if attempt:
            headers = {"X-Slack-Retry-Num": str(attempt), "X-Slack-Retry-Reason": reason}
        match envelope.kind:
            case "events_api":
                body, kind = json.dumps(envelope.payload), "application/json"
            case "slash_commands":
                body, kind = urlencode(envelope.payload), "application/x-www-form-urlencoded"
            case _:
                body = urlencode({"payload": json.dumps(envelope.payload)})
                kind = "application/x-www-form-urlencoded"
        try:
            status, answer, final = await self._post(body, kind, headers)
        except TimeoutError:
            return self.url, "http_timeout", None
        except aiohttp.ClientError:
            return self.url, "connection_failed", None
        if not 200 <= status < 300:
            return self.url, "no_retry" if final else "http_error", None
        if isinstance(answer, dict):
            return self.url, "", answer
        return self.url, "", {"text": answer} if answer else None

    def signed(self, body: str) -> dict[str, str]:
        """Return the headers that sign a request."""
        moment = str(int(self._workspace.clock.now().timestamp()))
        base = f"v0:{moment}:{body}".encode()
        proof = hmac.new(self._workspace.signing_secret.encode(), base, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": moment, "X-Slack-Signature": f"v0={proof}"}

    async def _post(self, body: str, kind: str, headers: dict[str, str]) -> tuple[int, Any, bool]:
        timeout = aiohttp.ClientTimeout(total=self._workspace.options.ack_within.total_seconds())
        async with self._session.post(
            self.url,
            data=body.encode(),
            headers={"Content-Type": kind, **self.signed(body), **headers},
            timeout=timeout,
            allow_redirects=False,
        ) as answer:
            text = await answer.text()
            final = answer.headers.get("X-Slack-No-Retry") == "1"
            if "application/json" in answer.headers.get("Content-Type", ""):
                return answer.status, json.loads(text or "{}"), final
            return answer.status, text, final
