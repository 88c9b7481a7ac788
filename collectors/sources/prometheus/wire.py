"""Decoding of Prometheus' query API. Pure; raises SourceError for an incomplete response.

Results come in batches, so that a large one does not hold up the event loop between two of them.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from collectors.facts.labels import Labels
from collectors.facts.results import Sample, Series, SourceError, TooLargeError
from collectors.facts.sentences import counted, said_by, sentence
from collectors.readable_json import json_decoded


class _Result(msgspec.Struct, rename="camel"):
    result_type: str
    result: list[msgspec.Raw]


class _Answer(msgspec.Struct):
    status: str
    data: _Result | None = None
    error: str = ""
    warnings: list[str] | None = None  # `infos`, in contrast, never mean that something is missing


class _Element(msgspec.Struct):
    metric: dict[str, str]
    value: tuple[float, str] | None = None  # None: a native histogram


class _Labelled(msgspec.Struct):
    """An element that is not as it should be."""

    metric: dict[str, Any]


class _Row(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]] = []


_answer = msgspec.json.Decoder(_Answer)
_element = msgspec.json.Decoder(_Element)
_labelled = msgspec.json.Decoder(_Labelled)
_row = msgspec.json.Decoder(_Row)
_text = msgspec.json.Decoder(str)

BATCH = 500  # elements: about 2 ms


Skip = Callable[[str, Labels], None]


def instant(body: bytes, *, cap: int, skip: Skip) -> Iterator[tuple[Sample, ...]]:
    """Yield the samples of an instant query in batches, at most `cap` in all. A scalar is one without labels.

    `skip` is called for each sample that cannot be read, with the reason and with those of its labels that can be
    read; the others count, if there are any.
    """
    try:
        result = _whole(body)
        if result.result_type == "scalar":
            _at, value = result.result
            yield (Sample(labels=Labels(), value=float(json_decoded(_text.decode, value))),)
            return
        if result.result_type != "vector":
            raise SourceError(
                sentence(
                    "the query gives a {result_type}; a rule needs a vector or a scalar",
                    result_type=result.result_type,
                ),
                temporary=False,
            )
        _check_cap(cap, len(result.result))
        is_any_read = False
        for start in range(0, len(result.result), BATCH):
            found = tuple(_readable(result.result[start : start + BATCH], skip))
            is_any_read = is_any_read or bool(found)
            yield found
        if result.result and not is_any_read:
            raise SourceError(
                counted(
                    "the only sample cannot be read",
                    "none of the {count} samples can be read",
                    count=len(result.result),
                )
            )
    except (msgspec.DecodeError, ValueError) as failure:
        raise _unreadable(failure) from failure


def _readable(elements: Iterable[msgspec.Raw], skip: Skip) -> Iterator[Sample]:
    for element in elements:
        try:
            one = json_decoded(_element.decode, element)
            value = float(one.value[1]) if one.value else float("nan")
        except msgspec.DecodeError as failure:
            skip(str(failure), _readable_labels(element))
        except ValueError:
            skip(sentence("the value of a sample is not a number"), Labels(one.metric))
        else:
            yield Sample(labels=Labels(one.metric), value=value)


def _readable_labels(element: msgspec.Raw) -> Labels:
    try:
        metric = json_decoded(_labelled.decode, element).metric
    except msgspec.DecodeError:
        return Labels()
    return Labels({name: value for name, value in metric.items() if isinstance(value, str)})


def ranges(body: bytes, *, cap: int) -> Iterator[Series]:
    """Yield the series of a range query, at most `cap`."""
    try:
        rows = _whole(body).result
        _check_cap(cap, len(rows))
        for row in (json_decoded(_row.decode, one) for one in rows):
            points = tuple((at, float(text)) for at, text in row.values)
            yield Series(labels=Labels(row.metric), points=points)
    except (msgspec.DecodeError, ValueError) as failure:
        raise _unreadable(failure) from failure


def _whole(body: bytes) -> _Result:
    answer = json_decoded(_answer.decode, body)
    if answer.status != "success":
        raise SourceError(sentence("the query failed: {error}", error=answer.error[:300]), temporary=False)
    if answer.warnings:
        first, more = answer.warnings[0][:300], len(answer.warnings) - 1
        partial = sentence("the result is partial: {warning}", warning=first)
        if more:
            partial = sentence("the result is partial: {warning} (and {more} more)", warning=first, more=more)
        raise SourceError(partial)
    if answer.data is None:
        raise SourceError(sentence("the response has no data: it is not Prometheus' JSON"))
    return answer.data


def _check_cap(cap: int, count: int) -> None:
    if count > cap:
        raise TooLargeError(
            sentence(
                "the query returns {number} series, more than prometheus.series_cap ({cap}): "
                "aggregate it, or raise the cap",
                number=count,
                cap=cap,
            ),
            temporary=False,
        )


def _unreadable(failure: Exception) -> SourceError:
    return SourceError(
        sentence("the response is cut off or not Prometheus' JSON: {failure}", failure=said_by(failure))
    )
