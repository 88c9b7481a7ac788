"""The HTTP transport of the Elasticsearch client: responses are read up to a byte cap, and have no half characters."""

import asyncio
import io
import re
import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
from elastic_transport import (
    AiohttpHttpNode,
    ApiResponseMeta,
    ConnectionError,
    ConnectionTimeout,
    HttpHeaders,
    TlsError,
    TransportError,
)
from elastic_transport._node import NodeApiResponse
from elasticsearch import AsyncElasticsearch
from elasticsearch.serializer import JsonSerializer

from collectors.capped_body import capped_body
from collectors.facts.patterns import replace_surrogates
from collectors.facts.sentences import sentence
from collectors.readable_json import repaired_json
from collectors.sources.elasticsearch.options import ElasticsearchOptions, address_of

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LARGE = 256 * 1024  # bytes; a larger body is sent in chunks


class ResponseTooLargeError(TransportError):
    """The response exceeded the cap and was aborted while it arrived."""


def client_of(settings: ElasticsearchOptions) -> AsyncElasticsearch:
    """Create a client for the settings. It connects on the first request; the caller closes it."""
    secure: dict[str, Any] = {}
    if any(url.startswith("https:") for url in settings.urls):
        secure["verify_certs"] = settings.verify
        if settings.verify:
            secure["ca_certs"] = settings.ca_file or _system_roots()
        else:
            secure["ssl_show_warn"] = False  # the settings turn it off; `doctor` reports it
    return AsyncElasticsearch(
        [address_of(url) for url in settings.urls],
        node_class=_node_with_cap(settings.bytes_cap),
        request_timeout=settings.timeout.total_seconds(),
        # Only another address is tried again, not the same one: the next query comes soon enough.
        max_retries=len(settings.urls) - 1,
        retry_on_status=(502, 503, 504),
        retry_on_timeout=False,
        http_compress=False,
        serializer=_WholeCharacters(),
        **secure,
    )


class _WholeCharacters(JsonSerializer):
    """Reads JSON without lone surrogates: a shipper that cuts a line may leave half a character of it.

    Bytes that are not UTF-8 are escaped: one odd document does not make the whole response unreadable.
    """

    def json_loads(self, data: bytes) -> Any:
        try:
            found = super().json_loads(data)
        except UnicodeDecodeError:
            data = repaired_json(data)
            found = super().json_loads(data)
        return _without_surrogates(found) if _SURROGATE.search(data) else found


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return [_without_surrogates(one) for one in value]
    if isinstance(value, dict):
        return {replace_surrogates(name): _without_surrogates(one) for name, one in value.items()}
    return value


def _system_roots() -> str | None:
    roots = ssl.get_default_verify_paths()
    return roots.cafile or roots.capath  # None: those bundled with the client


def _node_with_cap(bytes_cap: int) -> type[AiohttpHttpNode]:
    class CappedNode(_CappedNode):
        cap = bytes_cap

    return CappedNode


class _CappedNode(AiohttpHttpNode):
    """A node that stops at the cap; the library's own reads a body of any size."""

    cap: int

    async def perform_request(  # type: ignore[override]  # as in the library's own node
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: HttpHeaders | None = None,
        request_timeout: Any = None,
    ) -> NodeApiResponse:
        if self.session is None:
            self._create_aiohttp_session()
        assert self.session is not None
        limit = request_timeout if isinstance(request_timeout, int | float) else self.config.request_timeout
        sent = {**self._headers, **(headers or {})}
        started = asyncio.get_running_loop().time()
        try:
            async with self.session.request(
                method,
                self.base_url + target,
                data=io.BytesIO(body) if body and len(body) > _LARGE else body,
                headers=sent,
                timeout=aiohttp.ClientTimeout(total=limit),
                allow_redirects=False,
            ) as response:
                raw = await self._read(response)
        except TransportError:
            raise
        except TimeoutError as error:
            raise ConnectionTimeout(sentence("timed out"), errors=(error,)) from None
        except aiohttp.ClientSSLError as error:
            raise TlsError(str(error), errors=(error,)) from None
        except aiohttp.ClientError as error:
            raise ConnectionError(str(error), errors=(error,)) from None
        took = asyncio.get_running_loop().time() - started
        return NodeApiResponse(self._meta(response.status, response.headers, took), raw)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        body = await capped_body(response, self.cap)
        if body is None:
            response.close()
            raise ResponseTooLargeError(sentence("the response exceeded {cap} bytes", cap=self.cap))
        return body

    def _meta(self, status: int, headers: Mapping[str, str], took: float) -> ApiResponseMeta:
        # `Warning` headers report deprecations to the server's operator; the client would emit them as warnings here.
        kept = HttpHeaders([(name, value) for name, value in headers.items() if name.lower() != "warning"])
        return ApiResponseMeta(
            node=self.config, duration=took, http_version="1.1", status=status, headers=kept
        )
