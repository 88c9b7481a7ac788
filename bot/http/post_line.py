"""The client of `yardmaster do`: posts a command line to a running Yardmaster."""

import shlex
from collections.abc import Sequence

import aiohttp
import msgspec

from bot.http.line_answer import LineAnswer
from collectors.transport_words import why_no_answer
from commands.core.command import CommandOutcome

TIMEOUT = 30  # seconds


class PostError(Exception):
    """The line could not be posted. The text says what to do; `outcome` is refused when the token is not accepted."""

    def __init__(self, reason: str, outcome: CommandOutcome = CommandOutcome.FAILED) -> None:
        super().__init__(reason)
        self.outcome = outcome


def line_from_shell(words: Sequence[str]) -> str:
    """Return the line that a shell's words stand for. One word with spaces is a whole line, quoted for the shell."""
    if len(words) == 1 and len(words[0].split()) > 1:
        return words[0]
    return shlex.join(words)


async def post_line(address: str, token: str, line: str) -> LineAnswer:
    """Post the line and return the answer. Raises PostError."""
    base = (address if "://" in address else f"http://{address}").rstrip("/")
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT)) as session,
            session.post(
                f"{base}/api/yard/lines",
                headers={"Authorization": f"Bearer {token}"},
                json={"line": line},
            ) as answer,
        ):
            return _decoded(base, answer.status, await answer.read())
    except aiohttp.InvalidURL as error:
        raise PostError(f"{address} is not an address: write it like http://127.0.0.1:9099") from error
    except (aiohttp.ClientError, TimeoutError) as error:
        raise PostError(
            f"cannot reach {base}: {why_no_answer(error)}. Is Yardmaster running there?"
        ) from error


def _decoded(base: str, status: int, body: bytes) -> LineAnswer:
    try:
        if status == 200:
            return msgspec.json.decode(body, type=LineAnswer)
        if status >= 500:
            raise PostError(f"{base} failed ({status}): its log says why")
        reason = msgspec.json.decode(body, type=dict[str, str]).get("error", "")
    except msgspec.DecodeError as error:
        raise PostError(f"{base} is not Yardmaster: cannot decode its answer") from error
    if status == 401:
        raise PostError(f"{base} does not accept the token (401): {reason}", CommandOutcome.REFUSED)
    raise PostError(f"{base} answered {status}: {reason}")
