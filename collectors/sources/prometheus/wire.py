"""This file reads the JSON of Prometheus' query API into facts. Pure; raises SourceError for what is not whole."""

from datetime import UTC, datetime

import msgspec

from collectors.facts.labels import Labels
from collectors.facts.results import Sample, SourceError


class Series(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One series over time: moments in UTC and values, oldest first."""

    labels: Labels
    points: tuple[tuple[datetime, float], ...]


class Target(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One scrape target. `health` is up, down or unknown; `last_scrape` is None before the first."""

    job: str
    instance: str
    labels: Labels
    health: str
    last_error: str
    last_scrape: datetime | None


class _Answer(msgspec.Struct):
    status: str
    data: msgspec.Raw = msgspec.Raw(b"null")
    error: str = ""
    warnings: list[str] | None = None  # `infos` beside it never mean that something is missing


class _Result(msgspec.Struct, rename="camel"):
    result_type: str
    result: msgspec.Raw


class _Element(msgspec.Struct):
    metric: dict[str, str]
    value: tuple[float, str] | None = None  # None: a native histogram


class _Row(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]] = []


class _Target(msgspec.Struct, rename="camel"):
    labels: dict[str, str]
    health: str = "unknown"
    last_error: str = ""
    last_scrape: datetime | None = None


class _Targets(msgspec.Struct, rename="camel"):
    active_targets: list[_Target] | None = None


_answer = msgspec.json.Decoder(_Answer)
_result = msgspec.json.Decoder(_Result)
_vector = msgspec.json.Decoder(list[_Element])
_scalar = msgspec.json.Decoder(tuple[float, str])
_matrix = msgspec.json.Decoder(list[_Row])
_label_sets = msgspec.json.Decoder(list[dict[str, str]])
_targets = msgspec.json.Decoder(_Targets)


def instant(body: bytes, *, cap: int) -> tuple[Sample, ...]:
    """The samples of an instant query, at most `cap`. A scalar is one sample without labels."""
    try:
        result = _result.decode(_whole(body))
        if result.result_type == "scalar":
            return (Sample(labels=Labels(), value=float(_scalar.decode(result.result)[1])),)
        if result.result_type != "vector":
            raise SourceError(
                f"the query gives a {result.result_type}; a rule needs a vector or a scalar", temporary=False
            )
        found = _vector.decode(result.result)
        _hold_to(cap, len(found))
        return tuple(
            Sample(labels=Labels(one.metric), value=float(one.value[1]) if one.value else float("nan"))
            for one in found
        )
    except (msgspec.DecodeError, ValueError) as failure:
        raise _unreadable(failure) from failure


def ranges(body: bytes, *, cap: int) -> tuple[Series, ...]:
    """The series of a range query, at most `cap`."""
    try:
        rows = _matrix.decode(_result.decode(_whole(body)).result)
        _hold_to(cap, len(rows))
        return tuple(
            Series(
                labels=Labels(row.metric),
                points=tuple((datetime.fromtimestamp(at, UTC), float(text)) for at, text in row.values),
            )
            for row in rows
        )
    except (msgspec.DecodeError, ValueError) as failure:
        raise _unreadable(failure) from failure


def label_sets(body: bytes, *, cap: int) -> tuple[Labels, ...]:
    """The label sets of /api/v1/series."""
    try:
        found = _label_sets.decode(_whole(body))
    except msgspec.DecodeError as failure:
        raise _unreadable(failure) from failure
    _hold_to(cap, len(found))
    return tuple(Labels(one) for one in found)


def targets(body: bytes) -> tuple[Target, ...]:
    """The active targets of /api/v1/targets."""
    try:
        found = _targets.decode(_whole(body)).active_targets or []
    except msgspec.DecodeError as failure:
        raise _unreadable(failure) from failure
    return tuple(
        Target(
            job=one.labels.get("job", ""),
            instance=one.labels.get("instance", ""),
            labels=Labels(one.labels),
            health=one.health,
            last_error=one.last_error,
            last_scrape=one.last_scrape if one.last_scrape and one.last_scrape.year > 1 else None,
        )
        for one in found
    )


def _whole(body: bytes) -> msgspec.Raw:
    answer = _answer.decode(body)
    if answer.status != "success":
        raise SourceError(f"the query failed: {answer.error[:300]}", temporary=False)
    if answer.warnings:
        more = f" (and {len(answer.warnings) - 1} more)" if len(answer.warnings) > 1 else ""
        raise SourceError(f"the answer is partial: {answer.warnings[0][:300]}{more}")
    return answer.data


def _hold_to(cap: int, count: int) -> None:
    if count > cap:
        raise SourceError(
            f"the query gives {count} series, more than the {cap} that are held: "
            "make it narrower or aggregate it",
            temporary=False,
        )


def _unreadable(failure: Exception) -> SourceError:
    return SourceError(f"the answer is cut or not Prometheus' JSON: {failure}")
