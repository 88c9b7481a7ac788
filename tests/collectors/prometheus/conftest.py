"""The fixtures of these tests: sources and readers that are closed after the test."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TypeVar

import pytest

from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.ranges import RangeReader
from collectors.sources.prometheus.source import PrometheusSource

T = TypeVar("T", PrometheusSource, RangeReader)


@asynccontextmanager
async def _opening(kind: Callable[[PrometheusOptions], T], seconds: int) -> AsyncIterator[Callable[..., T]]:
    """Yield a function that opens one at an address; all of them are closed at the end."""
    async with AsyncExitStack() as stack:

        def opened(url: str, **settings: object) -> T:
            settings.setdefault("timeout", timedelta(seconds=seconds))
            one = kind(PrometheusOptions(url=url, **settings))  # type: ignore[arg-type]
            stack.push_async_callback(one.close)
            return one

        yield opened


@pytest.fixture
async def source_at() -> AsyncIterator[Callable[..., PrometheusSource]]:
    """A function that connects a source to an address; it is closed after the test."""
    async with _opening(PrometheusSource, 5) as opened:
        yield opened


@pytest.fixture
async def reader_at() -> AsyncIterator[Callable[..., RangeReader]]:
    """A function that reads ranges from an address; its child process is killed after the test."""
    async with _opening(RangeReader, 20) as opened:
        yield opened
