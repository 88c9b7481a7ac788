"""A blackout of the API server that begins with a write, which takes effect or not."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.client import KubernetesClient


@contextmanager
def blackout(*, lands: bool, at: int = 1) -> Iterator[None]:
    """From the `at`-th write on, no request is answered. That write takes effect or not, and no later one does."""
    real, writes = KubernetesClient.call, 0

    async def call(self: KubernetesClient, method: str, path: str, **named: Any) -> bytes:
        nonlocal writes
        is_dry = "dryRun" in (named.get("params") or {}) or "dryRun" in (named.get("body") or {})
        is_dark = writes >= at
        if method != "GET" and not is_dry and not is_dark:
            writes += 1
            if writes == at and lands:
                await real(self, method, path, **named)
        if is_dark or writes >= at:
            raise SourceError("kube did not answer completely within 10 s")
        return await real(self, method, path, **named)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(KubernetesClient, "call", call)
        yield
