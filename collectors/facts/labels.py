"""Labels as a query returned them; they are an alert's identity."""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from sys import intern
from typing import Any, NewType, TypeVar, overload

T = TypeVar("T")

AlertKey = NewType("AlertKey", str)  # 16 hex digits, blake2b(8) of the labels


class Labels(Mapping[str, str]):
    """Immutable, hashable labels, sorted by name. An empty value is the same as no label, as in Prometheus."""

    __slots__ = ("_hash", "_key", "_pairs")

    def __init__(self, pairs: Mapping[str, str] | None = None) -> None:
        items = sorted((pairs or {}).items())
        self._pairs = tuple((intern(name), intern(value)) for name, value in items if value != "")
        self._hash = hash(self._pairs)
        self._key: AlertKey | None = None

    def __getitem__(self, name: str) -> str:
        for key, value in self._pairs:
            if key == name:
                return value
        raise KeyError(name)

    @overload
    def get(self, name: str, default: None = None, /) -> str | None: ...

    @overload
    def get(self, name: str, default: str | T, /) -> str | T: ...

    def get(self, name: str, default: Any = None, /) -> Any:
        for key, value in self._pairs:
            if key == name:
                return value
        return default

    def __contains__(self, name: object) -> bool:
        for key, _ in self._pairs:  # noqa: SIM110 - asked for a million times in a large storm
            if key == name:
                return True
        return False

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The names and values, sorted by name."""
        return self._pairs

    def share(self, pairs: dict[tuple[str, str], tuple[str, str]]) -> None:
        """Hold the pairs in `pairs` instead of equal ones of their own, and add those that are missing there."""
        self._pairs = tuple(pairs.setdefault(pair, pair) for pair in self._pairs)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Labels):
            return self._pairs == other._pairs
        return isinstance(other, Mapping) and dict(self._pairs) == dict(other)

    def __repr__(self) -> str:
        return "{" + ", ".join(f'{name}="{value}"' for name, value in self._pairs) + "}"

    def with_(self, **more: str) -> "Labels":
        """Return these labels and `more`; an empty value removes a label."""
        return Labels({**dict(self._pairs), **more})

    def without(self, *names: str) -> "Labels":
        return Labels({name: value for name, value in self._pairs if name not in names})

    @property
    def key(self) -> AlertKey:
        """The key of the alert with these labels: equal labels give an equal key on every machine."""
        if self._key is None:
            parts = (part.encode() + b"\xff" for pair in self._pairs for part in pair)
            self._key = AlertKey(blake2b(b"".join(parts), digest_size=8).hexdigest())
        return self._key
