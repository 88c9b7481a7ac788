"""This file makes single calls to Elasticsearch: each whole, bounded in time and bytes, or a SourceError."""

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from elastic_transport import ConnectionError, ConnectionTimeout, SerializationError, TlsError, TransportError
from elasticsearch import ApiError, AsyncElasticsearch, UnsupportedProductError

from collectors.facts.results import SourceError
from collectors.sources.elasticsearch.options import Credentials, ElasticsearchOptions
from collectors.sources.elasticsearch.transport import AnswerTooLargeError, client_of

Json = dict[str, Any]

_KEEP_ALIVE = "1m"  # of a point in time; renewed by each page
_NOT_ELASTICSEARCH = (
    "answers, but is not Elasticsearch (OpenSearch, or something in between that drops its headers): "
    "Yardmaster needs Elasticsearch 7.17 or newer"
)


class TooLargeError(SourceError):
    """The answer was over the byte cap: ask for less."""


class _StrangeAnswerError(Exception):
    """The answer has not the shape of Elasticsearch's."""


class ElasticsearchClient:
    """The calls that the looks are made of. Every one raises SourceError, and returns only whole answers."""

    def __init__(self, settings: ElasticsearchOptions) -> None:
        self._settings = settings
        self._client: AsyncElasticsearch = client_of(settings)
        # The server gives up a little before us, so that it stops working for nobody.
        self._patience = f"{round(settings.timeout.total_seconds() * 900)}ms"

    async def close(self) -> None:
        await self._client.close()

    async def search(self, body: Json, *, keep: Sequence[str] = ()) -> Json:
        """One search over the index. `keep`: paths of the answer that are wanted besides what tells it is whole."""
        paths = ["timed_out", "terminated_early", "_shards", "_clusters", "pit_id", *keep]
        async with self._errors():
            asked = {"timeout": self._patience, **body}
            index = None if "pit" in body else self._settings.index
            answer = await self._now().search(index=index, body=asked, filter_path=paths)
            found = _object(answer.body)
        must_be_whole(found, self._settings.index)
        return found

    async def searches(self, bodies: Sequence[Json], *, keep: Sequence[str] = ()) -> list[Json]:
        """Several searches in one request, answered in their order."""
        inner = ("timed_out", "_shards", "_clusters", "error", "status", *keep)
        lines: list[Json] = []
        for body in bodies:
            lines += [{"index": self._settings.index}, {"timeout": self._patience, **body}]
        async with self._errors():
            answer = await self._now().msearch(
                searches=lines, filter_path=[f"responses.{path}" for path in inner]
            )
            found = _objects(_object(answer.body).get("responses"))
            if len(found) != len(bodies):
                raise _StrangeAnswerError
        for one in found:
            if "error" in one:
                raise SourceError(self._refused(int(one.get("status", 500)), one), status=one.get("status"))
            must_be_whole(one, self._settings.index)
        return found

    async def field_caps(self, names: Sequence[str]) -> Json:
        """What the index knows of these fields: `{"indices": […], "fields": {name: {type: {…}}}}`."""
        async with self._errors():
            answer = await self._now().field_caps(index=self._settings.index, fields=list(names))
            return _object(answer.body)

    async def versions(self) -> tuple[str, ...]:
        """The versions of the nodes; none when we may not ask."""
        try:
            async with self._errors():
                nodes = _object((await self._now().nodes.info(filter_path="nodes.*.version")).body)
        except SourceError as error:
            if error.status in (400, 401, 403, 404, 405, 410):
                return ()
            raise
        return tuple(sorted({str(node["version"]) for node in nodes.get("nodes", {}).values()}))

    @contextlib.asynccontextmanager
    async def point_in_time(self) -> AsyncIterator[Json]:
        """A view of the index that does not change between pages: the `pit` of a search. Closed at the end."""
        async with self._errors():
            opened = await self._now().open_point_in_time(index=self._settings.index, keep_alive=_KEEP_ALIVE)
            pit: Json = {"id": _object(opened.body).get("id"), "keep_alive": _KEEP_ALIVE}
        try:
            yield pit
        finally:
            # Left open it would end by itself in a minute; a failure here must not spoil a good answer.
            with contextlib.suppress(SourceError, TimeoutError):
                async with asyncio.timeout(2), self._errors():
                    await self._now().close_point_in_time(id=pit["id"])

    def _now(self) -> AsyncElasticsearch:
        """The client with the credentials of this moment."""
        asked = self._settings.credentials()
        return self._client.options(headers=_authorization(asked) if asked else {})

    @contextlib.asynccontextmanager
    async def _errors(self) -> AsyncIterator[None]:
        where = self._settings.name
        seconds = self._settings.timeout.total_seconds()
        try:
            yield
        except UnsupportedProductError as error:
            raise SourceError(f"{where} {_NOT_ELASTICSEARCH}", temporary=False) from error
        except ApiError as error:
            status = error.meta.status
            raise SourceError(
                self._refused(status, error.body),
                temporary=status in (429, 500, 502, 503, 504),
                status=status,
            ) from error
        except AnswerTooLargeError as error:
            raise TooLargeError(
                f"{where}: an answer was larger than {self._settings.bytes_cap} bytes: narrow `match`, shorten `over`"
            ) from error
        except ConnectionTimeout as error:
            raise SourceError(f"{where} did not answer within {seconds:g} s: narrow the search") from error
        except TlsError as error:
            raise SourceError(
                f"{where}: no trusted TLS connection: check ca_file and the server's certificate",
                temporary=False,
            ) from error
        except ConnectionError as error:
            raise SourceError(f"{where}: cannot connect: check elasticsearch.url and the network") from error
        except (SerializationError, _StrangeAnswerError) as error:
            raise SourceError(f"{where} {_NOT_ELASTICSEARCH}", temporary=False) from error
        except TransportError as error:
            raise SourceError(f"{where}: the call failed: {type(error).__name__}") from error

    def _refused(self, status: int, body: object) -> str:
        where, index = self._settings.name, self._settings.index
        reason = self._settings.redact(reason_of(body))
        match status:
            case 401:
                return f"{where} does not know us (401): check api_key_file or basic_auth"
            case 403:
                return (
                    f"{where} forbids it (403): the key needs `read` and `view_index_metadata` on `{index}`"
                )
            case 404:
                return f"{where} has no index `{index}` (404): check elasticsearch.index"
            case 400:
                return f"{where} refused the question (400): {reason}"
            case 429:
                return f"{where} is overloaded (429): {reason}"
            case _:
                return f"{where} failed ({status}): {reason}"


def _authorization(asked: Credentials) -> Mapping[str, str]:
    if asked.api_key:
        return {"authorization": f"ApiKey {asked.api_key}"}
    if asked.bearer:
        return {"authorization": f"Bearer {asked.bearer}"}
    pair = b64encode(f"{asked.username}:{asked.password}".encode()).decode()
    return {"authorization": f"Basic {pair}"}


def _object(body: object) -> Json:
    if not isinstance(body, dict):
        raise _StrangeAnswerError
    return body


def _objects(body: object) -> list[Json]:
    if not isinstance(body, list):
        raise _StrangeAnswerError
    return [_object(one) for one in body]


_CUT = 300  # characters of a server's own words


def must_be_whole(answer: Mapping[str, Any], index: str) -> None:
    """Return for a whole answer; raise SourceError for one that lacks a shard, a cluster or the end of the work."""
    if answer.get("timed_out"):
        raise SourceError(
            f"the search in `{index}` ran out of time and was cut short: narrow `match` or `over`"
        )
    clusters = answer.get("_clusters")
    if isinstance(clusters, Mapping):
        missing = {word: count for word in ("skipped", "partial", "failed") if (count := clusters.get(word))}
        if missing:
            words = ", ".join(f"{count} {word}" for word, count in missing.items())
            raise SourceError(f"the search in `{index}` did not reach every remote cluster: {words}")
    shards = answer.get("_shards")
    if not isinstance(shards, Mapping) or "total" not in shards:
        raise SourceError(
            f"the answer for `{index}` does not say which shards it covers, so it counts for nothing"
        )
    if failed := shards.get("failed"):
        reason = reason_of(
            {"error": {"root_cause": [one.get("reason") for one in shards.get("failures", ())]}}
        )
        raise SourceError(f"{failed} of {shards['total']} shards of `{index}` failed: {reason}")
    if not shards["total"]:
        raise SourceError(
            f"no index matches `{index}`: check elasticsearch.index and the shipper", temporary=False
        )


def reason_of(body: object) -> str:
    """The server's own words for what is wrong, cut short; it may repeat parts of the question."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(error, str):
        return error[:_CUT]
    if not isinstance(error, Mapping):
        return "no reason given"
    for cause in (*(error.get("root_cause") or ()), error):
        if isinstance(cause, Mapping) and cause.get("reason"):
            return str(cause["reason"])[:_CUT]
    return str(error.get("type") or "no reason given")[:_CUT]
