"""Processes that a benchmark runs to their end."""

import asyncio
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a process ended, and what it printed."""

    code: int | None
    output: bytes
    errors: str


async def finished(*command: str, folder: Path) -> Finished:
    """Run the command there to its end; it is terminated if the benchmark is cancelled."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe, cwd=folder)
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    return Finished(code=process.returncode, output=output, errors=errors.decode(errors="replace").strip())
