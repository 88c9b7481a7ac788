"""The shape of answers by the Accept header: whole objects, metadata only, or tables."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from demo.lookalikes.kubernetes.kinds import Kind
from demo.lookalikes.kubernetes.listing import Page
from demo.lookalikes.kubernetes.objects import encode
from demo.lookalikes.kubernetes.requests import ResourceRequest
from demo.lookalikes.kubernetes.store import Stored
from demo.lookalikes.kubernetes.tables import table


@dataclass(frozen=True, slots=True)
class Shape:
    """How to encode one object and a page of them. Without `many` a page is a plain list."""

    one: Callable[[Stored], bytes]
    many: Callable[[ResourceRequest, Page], bytes] | None = None


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


def _metadata_list(request: ResourceRequest, part: Page) -> bytes:
    head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": list_meta(part)}
    return encode({**head, "items": [_meta_of(stored) for stored in part.items]})


def _table(kind: Kind, now: datetime) -> Shape:
    def one(stored: Stored) -> bytes:
        version = {"resourceVersion": str(stored.version)}
        return encode(table(kind.listing, [stored.tree], dict(version), now))

    def many(request: ResourceRequest, part: Page) -> bytes:
        return encode(table(kind.listing, [stored.tree for stored in part.items], list_meta(part), now))

    return Shape(one, many)


def shape_of(accept: str, kind: Kind, now: datetime) -> Shape:
    """Return the first shape in the Accept header that is served for this kind."""
    for wanted in accept.split(","):
        parameters = dict(parameter.strip().partition("=")[::2] for parameter in wanted.split(";")[1:])
        if parameters.get("as") in ("PartialObjectMetadata", "PartialObjectMetadataList"):
            return Shape(lambda stored: encode(_meta_of(stored)), _metadata_list)
        if parameters.get("as") == "Table":
            return _table(kind, now)
        if "as" not in parameters:
            return WHOLE
    return WHOLE
