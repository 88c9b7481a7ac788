"""The client of `yardmaster do`: posts a command line to a running Yardmaster."""

import shlex
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import msgspec

from bot.http.line_answer import LineAnswer
from collectors.transport_words import why_no_answer
from commands.core.command import CommandOutcome

TIMEOUT = 30  # seconds
WITH_A_FILE = ("--spec", "--from")  # in chat the file comes with the message
FILE_ENDINGS = (".yaml", ".yml")


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


def files_in(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return the words without the names of files behind options that a file comes with, and those files."""
    kept: list[str] = []
    files: list[Path] = []
    for word in words:
        option, is_joined, value = word.partition("=")
        if option in WITH_A_FILE and is_joined:
            kept.append(option)
            files.append(Path(value))
        elif kept and kept[-1] in WITH_A_FILE and word.lower().endswith(FILE_ENDINGS):
            files.append(Path(word))
        else:
            kept.append(word)
    return tuple(kept), tuple(files)


async def post_line(address: str, token: str, line: str, files: Sequence[Path] = ()) -> LineAnswer:
    """Post the line, and files with it, and return the answer. Raises PostError, and OSError for the files."""
    sent = [{"name": file.name, "content": b64encode(file.read_bytes()).decode()} for file in files]
    base = (address if "://" in address else f"http://{address}").rstrip("/")
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT)) as session,
            session.post(
                f"{base}/api/yard/lines",
                headers={"Authorization": f"Bearer {token}"},
                json={"line": line, "files": sent} if sent else {"line": line},
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
