"""A store that counts its reads and its commits, for tests of what does not depend on how many rows there are."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

_READS = ("get", "get_all", "find")


class CountingStore:
    """Passes everything on to a store. `reads`: calls of get, get_all and find; `units`: transactions."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.reads = 0
        self.units = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Any]:
        self.units += 1
        async with self._store.unit() as unit:
            yield _Counting(unit, self)

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[Any]:
        async with self._store.read() as snapshot:
            yield _Counting(snapshot, self)

    def start_again(self) -> None:
        self.reads = self.units = 0


class _Counting:
    def __init__(self, inner: Any, store: CountingStore) -> None:
        self._inner, self._store = inner, store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def rows(self, row: type[Any]) -> Any:
        return _CountingRows(self._inner.rows(row), self._store)


class _CountingRows:
    def __init__(self, inner: Any, store: CountingStore) -> None:
        self._inner, self._store = inner, store

    def __getattr__(self, name: str) -> Any:
        if name in _READS:
            self._store.reads += 1
        return getattr(self._inner, name)
