"""Kubernetes objects as plain JSON trees.

A stored object never changes in place: `with_value` returns a new tree that shares the rest with the old one.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

Json = dict[str, Any]
Clock = Callable[[], datetime]

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()
# The alphabet of the real server's name suffixes: no vowels and no characters that look alike.
_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def encode(tree: Any) -> bytes:
    """Return the tree as compact JSON."""
    return _encoder.encode(tree)


def decode(body: bytes | str) -> Any:
    """Return the tree of a JSON text. Raises `msgspec.DecodeError`."""
    return _decoder.decode(body)


def copy_of(tree: Json) -> Json:
    """Return a deep copy."""
    copied: Json = decode(encode(tree))
    return copied


def dig(tree: Any, *path: str) -> Any:
    """Return the value at the path, or None where a step is missing or not an object."""
    for step in path:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(step)
    return tree


def with_value(tree: Json, path: tuple[str, ...], value: Any) -> Json:
    """Return a new tree with the value at the path; None removes the key."""
    first, rest = path[0], path[1:]
    if rest:
        inner = tree.get(first)
        value = with_value(inner if isinstance(inner, dict) else {}, rest, value)
    if value is None:
        return {key: other for key, other in tree.items() if key != first}
    return {**tree, first: value}


def metadata(tree: Json) -> Json:
    """Return the object's metadata, or an empty dict."""
    found = tree.get("metadata")
    return found if isinstance(found, dict) else {}


def name_of(tree: Json) -> str:
    return str(metadata(tree).get("name", ""))


def namespace_of(tree: Json) -> str:
    return str(metadata(tree).get("namespace", ""))


def labels_of(tree: Json) -> dict[str, str]:
    return metadata(tree).get("labels") or {}


def deleting(tree: Json) -> bool:
    """Whether the object is being deleted and waits for its grace period or finalizers."""
    return "deletionTimestamp" in metadata(tree)


def stamp(moment: datetime) -> str:
    """Return the moment in the format of `metav1.Time`: UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_of(text: str | None) -> datetime | None:
    """Return the aware datetime of a Kubernetes time, or None for an empty one."""
    return datetime.fromisoformat(text) if text else None


def suffix(length: int = 5) -> str:
    """Return a random name suffix in the server's alphabet."""
    return "".join(random.choices(_SUFFIX_ALPHABET, k=length))


def condition(tree: Json, kind: str) -> Json | None:
    """Return the status condition of that type."""
    for found in dig(tree, "status", "conditions") or ():
        if found.get("type") == kind:
            return dict(found)
    return None


def with_condition(conditions: list[Json], wanted: Json, now: datetime) -> list[Json]:
    """Return the conditions with this one set; its transition time changes only with its status."""
    others = [c for c in conditions if c.get("type") != wanted["type"]]
    old = next((c for c in conditions if c.get("type") == wanted["type"]), None)
    if old is not None and old.get("status") == wanted["status"]:
        since = old.get("lastTransitionTime", stamp(now))
    else:
        since = stamp(now)
    return [*others, {**wanted, "lastTransitionTime": since}]
