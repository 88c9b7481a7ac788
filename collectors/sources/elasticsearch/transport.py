"""This file has the wire under the Elasticsearch client: answers are read up to a cap and no further."""

import asyncio
import io
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

from collectors.sources.elasticsearch.options import ElasticsearchOptions, address_of

_LARGE = 256 * 1024  # bytes of a body that is sent in pieces


class AnswerTooLargeError(TransportError):
    """The answer was larger than the cap; it was given up while it arrived."""


def client_of(settings: ElasticsearchOptions) -> AsyncElasticsearch:
    """A client for the settings. It opens its connections on the first call; close it."""
    secure: dict[str, Any] = {}
    if any(url.startswith("https:") for url in settings.urls):
        secure["verify_certs"] = settings.verify
        if settings.verify:
            secure["ca_certs"] = settings.ca_file or _system_roots()
        else:
            secure["ssl_show_warn"] = False  # a setting said so; `doctor` tells it
    return AsyncElasticsearch(
        [address_of(url) for url in settings.urls],
        node_class=_node_with_cap(settings.bytes_cap),
        request_timeout=settings.timeout.total_seconds(),
        # A second address is tried, the same one is not: the next look comes soon enough.
        max_retries=len(settings.urls) - 1,
        retry_on_status=(502, 503, 504),
        retry_on_timeout=False,
        http_compress=False,
        **secure,
    )


def _system_roots() -> str | None:
    roots = ssl.get_default_verify_paths()
    return roots.cafile or roots.capath  # None: what comes with the client


def _node_with_cap(bytes_cap: int) -> type[AiohttpHttpNode]:
    class CappedNode(_CappedNode):
        cap = bytes_cap

    return CappedNode


class _CappedNode(AiohttpHttpNode):
    """The library's node reads a body whole, whatever its size; this one stops."""

    cap: int

    async def perform_request(  # type: ignore[override]  # as the library's own node does
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
            raise ConnectionTimeout("timed out", errors=(error,)) from None
        except aiohttp.ClientSSLError as error:
            raise TlsError(str(error), errors=(error,)) from None
        except aiohttp.ClientError as error:
            raise ConnectionError(str(error), errors=(error,)) from None
        took = asyncio.get_running_loop().time() - started
        return NodeApiResponse(self._meta(response.status, response.headers, took), raw)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        raw = bytearray()
        async for piece in response.content.iter_chunked(65_536):
            raw += piece
            if len(raw) > self.cap:
                response.close()
                raise AnswerTooLargeError(f"the answer is larger than {self.cap} bytes")
        return bytes(raw)

    def _meta(self, status: int, headers: Mapping[str, str], took: float) -> ApiResponseMeta:
        # A `Warning` header speaks of deprecations to whoever runs the server; the client would raise it at us.
        kept = HttpHeaders([(name, value) for name, value in headers.items() if name.lower() != "warning"])
        return ApiResponseMeta(
            node=self.config, duration=took, http_version="1.1", status=status, headers=kept
        )
