"""The client of `yardmaster do`: posts a command line to a running Yardmaster."""

import shlex
from collections.abc import Sequence

import aiohttp
import msgspec

TIMEOUT = 30  # seconds


class PostError(Exception):
    """The line could not be posted. The text says what to do."""


async def post_line(address: str, token: str, words: Sequence[str]) -> str:
    """Post the line and return the answer's text. Raises PostError."""
    line = shlex.join(words)
    limit = aiohttp.ClientTimeout(total=TIMEOUT)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.post(
                f"{address.rstrip('/')}/api/yard/lines",
                headers={"Authorization": f"Bearer {token}"},
                json={"line": line},
            ) as answer,
        ):
            body = msgspec.json.decode(await answer.read(), type=dict[str, str])
            if answer.status != 200:
                raise PostError(f"{address} answered {answer.status}: {body.get('error', '')}")
            return body["text"]
    except (aiohttp.ClientError, TimeoutError) as error:
        raise PostError(f"cannot reach {address}: {error}. Is Yardmaster running there?") from error
    except msgspec.DecodeError as error:
        raise PostError(f"{address} is not Yardmaster: cannot decode its answer") from error
