"""Requests to Elasticsearch: each returns a complete response, bounded in time and bytes, or raises SourceError."""

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from urllib.parse import quote

from elastic_transport import ConnectionError, ConnectionTimeout, SerializationError, TlsError, TransportError
from elasticsearch import ApiError, AsyncElasticsearch, UnsupportedProductError

from collectors.facts.results import SourceError, TooLargeError
from collectors.facts.sentences import counted, sentence
from collectors.sources.elasticsearch.options import Credentials, ElasticsearchOptions
from collectors.sources.elasticsearch.transport import ResponseTooLargeError, client_of
from collectors.sources.elasticsearch.wire import (
    FieldCaps,
    Json,
    NotElasticsearchError,
    PointInTime,
    ResolvedIndices,
    Responses,
    Search,
    check_complete,
    decoded,
    reason_of,
)

_ADDRESS = 2_500  # characters of field names in an address; servers accept 4 KB in all
_QUOTED_COMMA = "%2C"
_KEEP_ALIVE = "1m"  # of a point in time; each page renews it
_NOT_ELASTICSEARCH = (
    "{where} answers, but is not Elasticsearch (OpenSearch, or a proxy that drops its headers): "
    "Yardmaster needs Elasticsearch 7.17 or newer"
)


class ElasticsearchClient:
    """The requests that searches consist of. Each returns a complete response or raises SourceError."""

    def __init__(self, settings: ElasticsearchOptions) -> None:
        self._settings = settings
        self._client: AsyncElasticsearch = client_of(settings)
        self._shown: Credentials | None = None  # with which `_client_now` authenticates
        self._client_now = self._client
        # Shorter than the client's timeout, so that the server does not work on an abandoned request.
        self._server_timeout = f"{round(settings.timeout.total_seconds() * 900)}ms"

    async def close(self) -> None:
        await self._client.close()

    async def search(self, body: Json, *, keep: Sequence[str] = ()) -> Search:
        """Run one search. `keep`: paths of the response to return besides those that show it is complete."""
        paths = ["timed_out", "terminated_early", "_shards", "_clusters", "pit_id", *keep]
        async with self._errors():
            request = {"timeout": self._server_timeout, **body}
            index = None if "pit" in body else self._settings.index
            response = await self._now().search(index=index, body=request, filter_path=paths)
            found = decoded(response.body, Search)
        check_complete(found, self._settings.index)
        return found

    async def searches(self, bodies: Sequence[Json], *, keep: Sequence[str] = ()) -> list[Search]:
        """Run several searches in one request, and return their responses in order."""
        inner = ("timed_out", "_shards", "_clusters", "error", "status", *keep)
        lines: list[Json] = []
        for body in bodies:
            lines += [{"index": self._settings.index}, {"timeout": self._server_timeout, **body}]
        async with self._errors():
            response = await self._now().msearch(
                searches=lines, filter_path=[f"responses.{path}" for path in inner]
            )
            found = decoded(response.body, Responses).responses
        if len(found) != len(bodies):
            raise SourceError(
                counted(
                    "{source} answered {answers} of {count} search",
                    "{source} answered {answers} of {count} searches",
                    source=self._settings.name,
                    answers=len(found),
                    count=len(bodies),
                )
            )
        for one in found:
            if one.error is not None:
                status = one.status or 500
                raise SourceError(self._refused(status, {"error": one.error}), status=status)
            check_complete(one, self._settings.index)
        return found

    async def field_caps(self, names: Sequence[str]) -> FieldCaps:
        """Return the capabilities of these fields, in requests with short addresses: 7.17 reads no other names."""
        path = f"/{quote(self._settings.index, safe=',*')}/_field_caps"
        found = FieldCaps()
        async with self._errors():
            for part in _parts(names, _ADDRESS):
                response = await self._now().perform_request(
                    "GET", path, params={"fields": ",".join(part)}, headers={"accept": "application/json"}
                )
                caps = decoded(response.body, FieldCaps)
                found = FieldCaps(indices=caps.indices, fields={**found.fields, **caps.fields})
        return found

    async def index_names(self) -> list[str]:
        """Return the names of all indices and data streams, without hidden ones."""
        async with self._errors():
            response = await self._now().indices.resolve_index(name="*")
            found = decoded(response.body, ResolvedIndices)
        return sorted({one.name for one in (*found.data_streams, *found.indices)})

    @contextlib.asynccontextmanager
    async def point_in_time(self) -> AsyncIterator[Json]:
        """Open a view of the index that does not change between pages: the `pit` of a search. It is closed at exit."""
        async with self._errors():
            opened = await self._now().open_point_in_time(index=self._settings.index, keep_alive=_KEEP_ALIVE)
            pit: Json = {"id": decoded(opened.body, PointInTime).id, "keep_alive": _KEEP_ALIVE}
        try:
            yield pit
        finally:
            # If left open, it expires after a minute; an error here must not discard a good result.
            with contextlib.suppress(SourceError, TimeoutError):
                async with asyncio.timeout(2), self._errors():
                    await self._now().close_point_in_time(id=pit["id"])

    def _now(self) -> AsyncElasticsearch:
        """Return the client with the current credentials. To make one takes longer than many a request of it."""
        credentials = self._settings.credentials()
        if credentials != self._shown:
            self._shown = credentials
            self._client_now = self._client.options(
                headers=_authorization(credentials) if credentials else {}
            )
        return self._client_now

    @contextlib.asynccontextmanager
    async def _errors(self) -> AsyncIterator[None]:
        where = self._settings.name
        seconds = self._settings.timeout.total_seconds()
        try:
            yield
        except UnsupportedProductError as error:
            raise SourceError(sentence(_NOT_ELASTICSEARCH, where=where), temporary=False) from error
        except ApiError as error:
            status = error.meta.status
            raise SourceError(
                self._refused(status, error.body),
                temporary=status in (429, 500, 502, 503, 504),
                status=status,
            ) from error
        except ResponseTooLargeError as error:
            raise TooLargeError(
                sentence(
                    "{where}: the response exceeded {cap} bytes: narrow `match` or shorten `over`",
                    where=where,
                    cap=self._settings.bytes_cap,
                )
            ) from error
        except ConnectionTimeout as error:
            raise SourceError(
                sentence(
                    "{where} did not answer within {seconds:g} s: narrow the search",
                    where=where,
                    seconds=seconds,
                )
            ) from error
        except TlsError as error:
            raise SourceError(
                sentence(
                    "{where}: no trusted TLS connection: check ca_file and the server's certificate",
                    where=where,
                ),
                temporary=False,
            ) from error
        except ConnectionError as error:
            raise SourceError(
                sentence("{where}: cannot connect: check elasticsearch.url and the network", where=where)
            ) from error
        except (SerializationError, NotElasticsearchError) as error:
            raise SourceError(sentence(_NOT_ELASTICSEARCH, where=where), temporary=False) from error
        except TransportError as error:
            raise SourceError(
                sentence("{where}: the request failed: {name}", where=where, name=type(error).__name__)
            ) from error

    def _refused(self, status: int, body: object) -> str:
        where, index = self._settings.name, self._settings.index
        reason = self._settings.redact(reason_of(body))
        match status:
            case 401:
                return sentence(
                    "{where} rejected the credentials (401): check api_key_file or basic_auth", where=where
                )
            case 403 if "blocked by" in reason:  # 7.17 says so of a closed index
                return sentence("{where} rejected the query (403): {reason}", where=where, reason=reason)
            case 403:
                return sentence(
                    "{where} denied access (403): grant `read` and `view_index_metadata` on `{index}`",
                    where=where,
                    index=index,
                )
            case 404:
                return sentence(
                    "{where} has no index `{index}` (404): check elasticsearch.index",
                    where=where,
                    index=index,
                )
            case 400:
                return sentence("{where} rejected the query (400): {reason}", where=where, reason=reason)
            case 429:
                return sentence("{where} is overloaded (429): {reason}", where=where, reason=reason)
            case _:
                return sentence(
                    "{where} failed ({status}): {reason}", where=where, status=status, reason=reason
                )


def _parts(names: Sequence[str], length: int) -> Iterator[list[str]]:
    """Yield the names in parts of about this many characters, as they are quoted in an address."""
    part: list[str] = []
    taken = 0
    for name in names:
        quoted = len(quote(name, safe="")) + len(_QUOTED_COMMA)
        if part and taken + quoted > length:
            yield part
            part, taken = [], 0
        part.append(name)
        taken += quoted
    if part:
        yield part


def _authorization(credentials: Credentials) -> Mapping[str, str]:
    if credentials.api_key:
        return {"authorization": f"ApiKey {credentials.api_key}"}
    if credentials.bearer:
        return {"authorization": f"Bearer {credentials.bearer}"}
    pair = b64encode(f"{credentials.username}:{credentials.password}".encode()).decode()
    return {"authorization": f"Basic {pair}"}
