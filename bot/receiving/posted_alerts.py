"""Posted alerts: the bodies of Alertmanager's API and of its webhook, read alert by alert.

A body is refused as a whole only if it is no list of alerts. One bad alert in it is refused by its name, and the
others are kept.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

import msgspec

from alerts.received import ReceivedAlert
from bot.cooperative import in_pieces
from collectors.facts.labels import Labels
from collectors.readable_json import json_decoded

MOST_LABELS = 128  # with any name: Prometheus 3 sends names in UTF-8
MOST_CHARACTERS = 65_536  # of an alert's labels and annotations
AHEAD = timedelta(hours=1)  # a beginning later than this is a wrong clock or a wrong unit
LONGEST = timedelta(days=365)  # from now until the end of an alert
NAMED = 20  # refused alerts of one body

_WEB = ("http://", "https://")


class BodyError(Exception):
    """The body is no list of alerts. The text says why. `is_missing`: there is none."""

    def __init__(self, reason: str, *, is_missing: bool = False) -> None:
        super().__init__(reason)
        self.is_missing = is_missing


class _Posted(msgspec.Struct, rename="camel"):
    labels: dict[str, str]
    annotations: dict[str, str] = {}
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    generator_url: str = msgspec.field(default="", name="generatorURL")


_posted = msgspec.json.Decoder(_Posted)

T = TypeVar("T")


class _Webhook(msgspec.Struct, Generic[T]):
    alerts: list[T]
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How alerts are read. `lasts`: how long one stands that has no end, after it was sent. `clean` removes secrets."""

    lasts: timedelta
    drop_labels: frozenset[str] = frozenset()
    clean: Callable[[str], str] = str


@dataclass(slots=True, kw_only=True)
class PostedAlerts:
    """What a body had: the alerts, and why others of it are refused, of which the first are named."""

    alerts: list[ReceivedAlert] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    unnamed: int = 0

    def refuse(self, reason: str) -> None:
        """Add a refused alert."""
        if len(self.refused) < NAMED:
            self.refused.append(reason)
        else:
            self.unnamed += 1

    @property
    def refusal(self) -> str:
        """Why alerts are refused, in one line; empty if none is."""
        return "; ".join(self.refused) + (f"; and {self.unnamed} more" if self.unnamed else "")


async def posted_alerts(body: bytes, options: ReadingOptions, now: datetime) -> PostedAlerts:
    """Read the body of `POST /api/v2/alerts`. Raises BodyError."""
    if not body.strip():
        raise BodyError("alerts in body is required", is_missing=True)
    if body.strip() == b"null":
        return PostedAlerts()  # as Alertmanager takes it
    if (whole := _decoded_whole(body, list[_Posted])) is not None:
        return await _read(whole, len(body), options, now)
    return await _read(_decoded(body, list[msgspec.Raw]), len(body), options, now)


async def webhook_alerts(body: bytes, options: ReadingOptions, now: datetime) -> PostedAlerts:
    """Read the body of Alertmanager's webhook, version 4. Raises BodyError."""
    webhook = _decoded_whole(body, _Webhook[_Posted]) or _decoded(body, _Webhook[msgspec.Raw])
    if webhook.version not in ("", "4"):
        raise BodyError(f'version "{webhook.version}" of the webhook is not known: "4" is')
    return await _read(webhook.alerts, len(body), options, now)


_UNREADABLE = (msgspec.DecodeError, RecursionError)


def _decoded_whole(body: bytes, type_: type[T]) -> T | None:
    """Return what the body has, read at once; None if an alert in it cannot be read, and the others have to be."""
    try:
        return json_decoded(msgspec.json.Decoder(type_).decode, body)
    except _UNREADABLE:
        return None


def _decoded(body: bytes, type_: type[T]) -> T:
    try:
        return json_decoded(msgspec.json.Decoder(type_).decode, body)
    except _UNREADABLE as error:
        raise BodyError(str(error)) from error


async def _read(
    bodies: Iterable[_Posted | msgspec.Raw], size: int, options: ReadingOptions, now: datetime
) -> PostedAlerts:
    """Read alert by alert. `size`: the bytes of all of them together."""
    found = PostedAlerts()
    async for number, body in in_pieces(enumerate(bodies)):
        try:
            posted = body if isinstance(body, _Posted) else json_decoded(_posted.decode, body)
            found.alerts.append(_received(posted, options, now, is_short=size <= MOST_CHARACTERS))
        except (*_UNREADABLE, ValueError) as error:
            found.refuse(f"alert {number}: {error}")
    return found


def _received(posted: _Posted, options: ReadingOptions, now: datetime, *, is_short: bool) -> ReceivedAlert:
    labels = {
        name: value for name, value in posted.labels.items() if value and name not in options.drop_labels
    }
    _check(labels, posted.annotations)
    if not is_short:
        _check_size(labels, posted.annotations)
    begin, end = _moment(posted.starts_at), _moment(posted.ends_at)
    starts_at = begin or min(end or now, now)
    if starts_at > now + AHEAD:
        raise ValueError(f"startsAt {starts_at.isoformat()} is in the future: check the sender's clock")
    if end is not None and end < starts_at:
        raise ValueError("start time must be before end time")
    return ReceivedAlert(
        labels=Labels(labels),
        annotations={name: options.clean(value) for name, value in posted.annotations.items() if value},
        starts_at=min(starts_at, now),
        ends_at=min(end or now + options.lasts, now + LONGEST),
        generator_url=options.clean(url) if (url := posted.generator_url).startswith(_WEB) else "",
    )


def _check(labels: dict[str, str], annotations: dict[str, str]) -> None:
    if not labels:
        raise ValueError("at least one label pair required")
    if len(labels) > MOST_LABELS:
        raise ValueError(f"{len(labels)} labels are more than {MOST_LABELS}")
    if "" in labels or "" in annotations:
        raise ValueError('invalid label or annotation name ""')


def _check_size(labels: dict[str, str], annotations: dict[str, str]) -> None:
    size = sum(len(name) + len(value) for pairs in (labels, annotations) for name, value in pairs.items())
    if size > MOST_CHARACTERS:
        raise ValueError(f"{size} characters in labels and annotations are more than {MOST_CHARACTERS}")


def _moment(given: datetime | None) -> datetime | None:
    """Return the moment; None for none, and for Go's zero time."""
    if given is None or given.year <= 1:
        return None
    try:
        return given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{given.isoformat()} is not a moment that can be kept") from error
