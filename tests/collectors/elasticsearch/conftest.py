"""Fixtures of these tests: a look-alike with a few log lines, and the time of queries."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from tests.support.log_documents import host_line

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    """The time of queries."""
    return NOW


@pytest.fixture
async def server() -> AsyncIterator[ElasticsearchLookalike]:
    """A look-alike with three lines of two nodes, a minute old."""
    async with ElasticsearchLookalike.running() as es:
        at = NOW - timedelta(minutes=1)
        message = "NVRM: Xid (PCI:0000:b3:00): 79, pid=1, GPU has fallen off the bus."
        await es.index(
            host_line(at, message, node=node, unit="kernel") for node in ("gpu-a01", "gpu-a01", "gpu-a02")
        )
        yield es
