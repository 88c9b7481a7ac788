"""This file has the fixture of these tests: sources that get closed."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from collectors.sources.prometheus.source import PrometheusOptions, PrometheusSource


@pytest.fixture
async def source_at() -> AsyncIterator[Callable[..., PrometheusSource]]:
    """A function that opens a source to an address; it is closed after the test."""
    async with AsyncExitStack() as stack:

        def open_source(url: str, **settings: object) -> PrometheusSource:
            settings.setdefault("timeout", timedelta(seconds=5))
            source = PrometheusSource(PrometheusOptions(url=url, **settings))  # type: ignore[arg-type]
            stack.push_async_callback(source.close)
            return source

        yield open_source
