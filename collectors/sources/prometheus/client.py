"""Queries over HTTP: each returns the body of the response, or raises SourceError."""

import os
import ssl
from collections.abc import Mapping
from urllib.parse import urlencode

import aiohttp
from yarl import URL

from collectors.capped_body import capped_body
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from collectors.sources.prometheus.errors import Failure, check_response, too_large, without_secrets
from collectors.sources.prometheus.options import PrometheusOptions

_KEEP_ALIVE = 30.0  # seconds: longer than the usual 15 s between cycles, shorter than most proxies keep one


class PrometheusClient:
    """Form POSTs over reused connections: no redirects, no retries, no cookies, nothing from the environment.

    Create it in a running event loop.
    """

    def __init__(self, options: PrometheusOptions) -> None:
        self.where = without_secrets(options.url)
        self._options = options
        self._tls = TlsFiles(options)
        self._urls: dict[str, URL] = {}  # by path; there are few
        limit = options.timeout.total_seconds()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=options.concurrency, keepalive_timeout=_KEEP_ALIVE),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=limit, sock_connect=min(options.connect_timeout.total_seconds(), limit)
            ),
            trust_env=False,  # ~/.netrc and the proxy variables must not apply
            headers={
                # Prometheus spends more on compressing a usual response than on most queries.
                "Accept-Encoding": "identity",
                "Content-Type": "application/x-www-form-urlencoded",
                **options.headers,
            },
        )

    async def query(self, form: Mapping[str, str]) -> bytes:
        """Return the body of the response of /api/v1/query. Raises SourceError."""
        return await self._request("POST", "api/v1/query", urlencode(form).encode())

    async def get(self, path: str) -> bytes:
        """Return the body of the response of another path of the API. Raises SourceError."""
        return await self._request("GET", path)

    async def _request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        try:
            url = self._urls.get(path) or self._urls.setdefault(path, self._options.endpoint(path))
            async with self._session.request(
                method,
                url,
                data=body,
                headers=self._options.credentials(),
                ssl=self._tls.context() if url.scheme == "https" else True,
                proxy=self._options.proxy_url or None,
                allow_redirects=False,
            ) as response:
                answer = await self._body(response)
        except (aiohttp.ClientError, OSError, ValueError) as failure:  # TimeoutError is an OSError
            raise self._error(failure) from failure
        check_response(self.where, response.status, response.headers.get("Content-Type", ""), answer)
        return answer

    async def close(self) -> None:
        """Close all connections; requests under way fail."""
        await self._session.close()

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        body = await capped_body(response, self._options.byte_cap)
        if body is None:
            raise too_large(self.where, self._options.byte_cap)
        return body

    def _error(self, failure: Exception) -> SourceError:
        if self._session.closed:
            return SourceError(sentence("the source to {where} is closed", where=self.where))
        if kind := _kind(failure):
            return kind.error(self.where, limit=self._options.timeout.total_seconds())
        if isinstance(failure, OSError) and failure.filename:
            return SourceError(
                sentence(
                    "{file} cannot be read: {reason}",
                    file=failure.filename,
                    reason=failure.strerror or type(failure).__name__,
                )
            )
        return SourceError(
            sentence("the request to {where} failed: {name}", where=self.where, name=type(failure).__name__)
        )


def _kind(failure: Exception) -> Failure | None:
    match failure:
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return Failure.PROXY
        case aiohttp.ClientSSLError() | ssl.SSLError() | ssl.CertificateError():
            return Failure.TLS
        case aiohttp.ConnectionTimeoutError():
            return Failure.NOT_ACCEPTED
        case TimeoutError():
            return Failure.TIMEOUT
        case aiohttp.ClientPayloadError():
            return Failure.CUT
        case aiohttp.ClientConnectorDNSError():
            return Failure.UNRESOLVED
        case aiohttp.ClientConnectorError(os_error=ConnectionRefusedError()):
            return Failure.REFUSED
        case aiohttp.ClientConnectionError():
            return Failure.NO_RESPONSE
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return Failure.BAD_URL
        case _:
            return None


class TlsFiles:
    """Builds the context, and rebuilds it when one of its files changes: later connections use the new one."""

    def __init__(self, options: PrometheusOptions) -> None:
        self._options = options
        self._files = [file for file in (options.ca_file, options.cert_file, options.key_file) if file]
        self._stamps: list[tuple[int, int]] = []
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """Return the current context. Raises OSError, with the name of a file that is missing, or ssl.SSLError."""
        stamps = [(status.st_mtime_ns, status.st_size) for status in map(os.stat, self._files)]
        if self._context is None or stamps != self._stamps:
            self._context, self._stamps = self._read(), stamps
        return self._context

    def _read(self) -> ssl.SSLContext:
        options = self._options
        context = ssl.create_default_context(cafile=options.ca_file or None)
        if options.insecure and not options.ca_file:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if options.cert_file:
            context.load_cert_chain(options.cert_file, options.key_file or None)
        return context
