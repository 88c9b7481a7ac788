"""The fixtures of these tests: sources and readers that are closed after the test."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.ranges import RangeReader
from collectors.sources.prometheus.source import PrometheusSource


@pytest.fixture
async def source_at() -> AsyncIterator[Callable[..., PrometheusSource]]:
    """A function that connects a source to an address; it is closed after the test."""
    async with AsyncExitStack() as stack:

        def open_source(url: str, **settings: object) -> PrometheusSource:
            settings.setdefault("timeout", timedelta(seconds=5))
            source = PrometheusSource(PrometheusOptions(url=url, **settings))  # type: ignore[arg-type]
            stack.push_async_callback(source.close)
            return source

        yield open_source


@pytest.fixture
async def reader_at() -> AsyncIterator[Callable[..., RangeReader]]:
    """A function that reads ranges from an address; its child process is killed after the test."""
    async with AsyncExitStack() as stack:

        def open_reader(url: str, **settings: object) -> RangeReader:
            settings.setdefault("timeout", timedelta(seconds=20))
            reader = RangeReader(PrometheusOptions(url=url, **settings))  # type: ignore[arg-type]
            stack.push_async_callback(reader.close)
            return reader

        yield open_reader
