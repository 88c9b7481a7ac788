"""A log that nobody reads stops nothing."""

import fcntl
import json
import os
import signal
from pathlib import Path

import aiohttp

from tests.support.light import light
from tests.support.process import Process, listens_at_a_free_port

PIPE = 4096  # bytes, the smallest
REQUESTS = 100  # each has a line in the log


async def test_a_pipe_that_nobody_reads_stops_nothing_and_nothing_in_it_is_lost(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE)
    token = tmp_path / "token"
    token.write_text("another", "utf-8")
    async with light(tmp_path, start=False) as stage:
        address = listens_at_a_free_port(stage)
        stage.settings["http"]["auth"]["tokens"].append(
            {"actor": "cd", "token_file": str(token), "teams": ["sre"]}
        )
        process = await Process.begin(stage, stderr=writer)
        os.close(writer)
        token.unlink()
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as http:
            for _ in range(REQUESTS):
                async with http.post(
                    f"{address}/api/yard/lines", headers={"Authorization": "Bearer x"}
                ) as answer:
                    assert answer.status == 401
            async with http.get(f"{address}/healthz") as answer:
                assert answer.status == 200
        seen = len(stage.prometheus.queries)
        await stage.until(lambda: len(stage.prometheus.queries) > seen + 2)
        with os.fdopen(reader, encoding="utf-8") as log:
            lines = [log.readline() for _ in range(REQUESTS)]
            assert await process.end(signal.SIGTERM) == 0
            lines += log.readlines()
    entries = [json.loads(line) for line in lines]
    assert len([entry for entry in entries if entry["event"] == "token cannot be read"]) == REQUESTS
