"""Lists: selectors, pages of one snapshot, and continue tokens that expire with the history."""

import base64
import binascii
from dataclasses import dataclass

from demo.lookalikes.kubernetes.errors import RefusedError, bad_request, expired
from demo.lookalikes.kubernetes.objects import Json, decode, encode, name_of, namespace_of
from demo.lookalikes.kubernetes.requests import ResourceRequest
from demo.lookalikes.kubernetes.selectors import selection
from demo.lookalikes.kubernetes.store import Store, Stored

_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list "
    "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
    "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
    "modified, or deleted between the time the first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a list; the last one when `resume` is empty."""

    items: list[Stored]
    version: int
    resume: str = ""
    remaining: int | None = None


def page(store: Store, request: ResourceRequest) -> Page:
    """Return the page for a list request, or refuse with 400 or 410 as the real server does."""
    query = request.query
    limit = _number(query.get("limit"), "limit")
    version, after = store.version, ""
    if token := query.get("continue"):
        wanted, after = _read_token(token)
        found = store.all(request.kind, request.namespace)
        if wanted >= 0:
            version = wanted
            snapshot = store.all_at(request.kind, wanted, request.namespace)
            if snapshot is None:
                raise expired(_TOO_OLD, resume=_token(-1, after))
            found = snapshot
        found = [stored for stored in found if _start(stored) > after]
    elif query.get("resourceVersionMatch") == "Exact":
        version = _number(query.get("resourceVersion"), "resourceVersion")
        snapshot = store.all_at(request.kind, version, request.namespace)
        if snapshot is None:
            raise expired(f"The resourceVersion for the provided list is too old: {version}")
        found = snapshot
    else:
        _check_not_future(store, query.get("resourceVersion", ""))
        found = store.all(request.kind, request.namespace)
    if request.name:
        found = [stored for stored in found if name_of(stored.tree) == request.name]
    test = selection(request.kind, query.get("labelSelector", ""), query.get("fieldSelector", ""))
    if test is not None:
        found = [stored for stored in found if test(stored.tree)]
    if not limit or len(found) <= limit:
        return Page(items=found, version=version)
    shown = found[:limit]
    remaining = (
        None if test is not None else len(found) - limit
    )  # the real server does not count filtered lists
    return Page(items=shown, version=version, resume=_token(version, _start(shown[-1])), remaining=remaining)


def body(request: ResourceRequest, part: Page) -> bytes:
    """Return the page as the JSON of a list."""
    meta: Json = {"resourceVersion": str(part.version)}
    if part.resume:
        meta["continue"] = part.resume
    if part.remaining is not None:
        meta["remainingItemCount"] = part.remaining
    head = encode(
        {"kind": f"{request.kind.kind}List", "apiVersion": request.kind.api_version, "metadata": meta}
    )
    return head[:-1] + b',"items":[' + b",".join(stored.item for stored in part.items) + b"]}"


def _number(text: str | None, field: str) -> int:
    if not text:
        return 0
    if not text.isdigit():
        raise bad_request(
            f'{field}: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        )
    return int(text)


def _check_not_future(store: Store, text: str) -> None:
    wanted = _number(text, "resourceVersion")
    if wanted > store.version:
        message = f"Too large resource version: {wanted}, current: {store.version}"
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        raise RefusedError(504, "Timeout", message, details={"causes": [cause], "retryAfterSeconds": 1})


def _start(stored: Stored) -> str:
    space, name = namespace_of(stored.tree), name_of(stored.tree)
    return f"{space}/{name}\0" if space else f"{name}\0"


def _token(version: int, after: str) -> str:
    return (
        base64.urlsafe_b64encode(encode({"v": "meta.k8s.io/v1", "rv": version, "start": after}))
        .decode()
        .rstrip("=")
    )


def _read_token(token: str) -> tuple[int, str]:
    try:
        read = decode(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        if read["v"] != "meta.k8s.io/v1":
            raise ValueError(read["v"])
        return int(read["rv"]), str(read["start"])
    except (binascii.Error, ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise bad_request(f"continue key is not valid: {error}") from error
