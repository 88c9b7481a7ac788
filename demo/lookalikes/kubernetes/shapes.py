"""This file gives answers the shape that a client asked for: whole objects, metadata only, or tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.listing import Page
from demo.lookalikes.kubernetes.objects import encode
from demo.lookalikes.kubernetes.requests import Asked
from demo.lookalikes.kubernetes.store import Stored
from demo.lookalikes.kubernetes.tables import table


@dataclass(frozen=True, slots=True)
class Shape:
    """How one object and a page of them are written; `many` None is the plain list."""

    one: Callable[[Stored], bytes]
    many: Callable[[Asked, Page], bytes] | None = None


WHOLE = Shape(Stored.whole)


def _meta_of(stored: Stored) -> dict[str, object]:
    head = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
    return {**head, "metadata": stored.tree["metadata"]}


def list_meta(part: Page) -> dict[str, object]:
    """Return the metadata of a page."""
    meta: dict[str, object] = {"resourceVersion": str(part.version)}
    if part.resume:
        meta["continue"] = part.resume
    if part.remaining is not None:
        meta["remainingItemCount"] = part.remaining
    return meta


def _metadata_list(asked: Asked, part: Page) -> bytes:
    head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": list_meta(part)}
    return encode({**head, "items": [_meta_of(stored) for stored in part.items]})


def _table(kind: Kind, now: datetime) -> Shape:
    def one(stored: Stored) -> bytes:
        version = {"resourceVersion": str(stored.version)}
        return encode(table(kind.listing, [stored.tree], dict(version), now))

    def many(asked: Asked, part: Page) -> bytes:
        return encode(table(kind.listing, [stored.tree for stored in part.items], list_meta(part), now))

    return Shape(one, many)


def shape_of(accept: str, kind: Kind, now: datetime) -> Shape:
    """Return the first shape in the Accept header that is served for this kind."""
    for wanted in accept.split(","):
        words = dict(word.strip().partition("=")[::2] for word in wanted.split(";")[1:])
        if words.get("as") in ("PartialObjectMetadata", "PartialObjectMetadataList"):
            return Shape(lambda stored: encode(_meta_of(stored)), _metadata_list)
        if words.get("as") == "Table":
            return _table(kind, now)
        if "as" not in words:
            return WHOLE
    return WHOLE
