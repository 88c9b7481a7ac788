"""This file has one HTTP connection to Prometheus: a form is posted, bytes come back, or a SourceError that helps."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

import msgspec
import requests
from prometheus_api_client.prometheus_connect import PrometheusConnect
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, IncompleteRead, ProtocolError, ReadTimeoutError
from urllib3.util.retry import Retry

from collectors.facts.results import SourceError

_CHUNK = 1 << 16
_LONGEST_WORDS = 300  # characters of a server's own words that are passed on


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusOptions:
    """Where Prometheus (or Thanos, Mimir, VictoriaMetrics) is and how much it may cost.

    `authorization` gives the whole header value and `basic_auth` name and password; both are called for each
    request, so that a rotated file is read again. `timeout` bounds a whole answer, from connecting to the
    last byte: a thread cannot be cancelled, so keep it below the asker's own deadline.
    """

    url: str = field(repr=False)  # it may hold a password
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict)
    authorization: Callable[[], str] | None = None
    basic_auth: Callable[[], tuple[str, str]] | None = None
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    insecure: bool = False
    proxy_url: str = field(default="", repr=False)
    connect_timeout: timedelta = timedelta(seconds=2)
    timeout: timedelta = timedelta(seconds=8)
    byte_cap: int = 32 << 20
    series_cap: int = 10_000
    concurrency: int = 8
    waiting_cap: int = 1000  # questions in flight and in line together
    freshness_query: str = (
        "max(timestamp(up))"  # the moment of the newest scrape, in seconds; empty: it is not asked
    )
    stale_after: timedelta = timedelta(minutes=3)


class _ErrorBody(msgspec.Struct):
    error: str = ""


# Prometheus spends more on compressing a usual answer than on most queries. `headers` may ask for gzip all the same.
_PLAIN = {"Accept-Encoding": "identity"}


class PrometheusConnection(PrometheusConnect):
    """A PrometheusConnect with its own way to ask: form POST, a cap on bytes, a deadline, and no repeats."""

    def __init__(self, settings: PrometheusOptions) -> None:
        session = requests.Session()
        session.trust_env = False  # neither ~/.netrc nor proxy variables change whom we talk to
        session.verify = settings.ca_file or not settings.insecure
        if settings.cert_file:
            session.cert = (settings.cert_file, settings.key_file or settings.cert_file)
        if settings.proxy_url:
            session.proxies = {"http": settings.proxy_url, "https": settings.proxy_url}
        super().__init__(
            url=settings.url.rstrip("/"),
            headers={**_PLAIN, **settings.headers},
            retry=Retry(0),
            session=session,
            method="POST",
        )
        session.mount(self.url, HTTPAdapter(max_retries=Retry(0), pool_maxsize=settings.concurrency))
        self.settings = settings
        self.where = _without_secrets(settings.url)
        self._forms: dict[str, requests.PreparedRequest] = {}  # by path: all of it but the form

    def ask(self, path: str, form: Mapping[str, str | list[str]], *, method: str = "POST") -> bytes:
        """The body of the answer. Blocks for `timeout` at most; raises SourceError."""
        started = time.monotonic()
        patience = self.settings.timeout.total_seconds()
        try:
            response = self._session.send(
                self._request(method, path, form),
                timeout=(min(self.settings.connect_timeout.total_seconds(), patience), patience),
                stream=True,
                allow_redirects=False,
            )
            with response:
                body = self._body(response, started + patience)
        except (requests.RequestException, HTTPError, OSError) as failure:
            raise SourceError(self._in_words(failure)) from failure
        if response.status_code != 200:
            raise self._refused(response, body)
        if body[:1] != b"{":
            kind = response.headers.get("Content-Type", "something unnamed").partition(";")[0]
            raise SourceError(
                f"{self.where} answered with {kind} instead of JSON: a proxy or a log-in page stands "
                "before it, or the url's path is wrong"
            )
        return body

    def _body(self, response: requests.Response, deadline: float) -> bytes:
        """Read all, never more than the cap, never past the deadline however slowly it trickles."""
        parts: list[bytes] = []
        size = 0
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise ReadTimeoutError(None, None, "the answer took too long")  # type: ignore[arg-type]
            if (line := getattr(response.raw, "connection", None)) is not None and line.sock is not None:
                line.sock.settimeout(left)
            part = response.raw.read1(_CHUNK, decode_content=True)
            if not part:
                break
            parts.append(part)
            size += len(part)
            if size > self.settings.byte_cap:
                raise SourceError(
                    f"{self.where} answered with more than {self.settings.byte_cap >> 20} MiB: "
                    "make the query narrower or aggregate it",
                    temporary=False,
                )
        return b"".join(parts)

    def _request(
        self, method: str, path: str, form: Mapping[str, str | list[str]]
    ) -> requests.PreparedRequest:
        """The request, with the credentials as they are now. Preparing one costs more than sending it."""
        if method == "POST":
            if path not in self._forms:
                self._forms[path] = self._prepared(method, path, self.settings.params)
            request = self._forms[path].copy()
            request.body = urlencode(form, doseq=True)
            request.headers["Content-Type"] = "application/x-www-form-urlencoded"
            request.headers["Content-Length"] = str(len(request.body))  # it is ASCII
        else:
            request = self._prepared(method, path, {**self.settings.params, **form})
        if self.settings.authorization:
            request.headers["Authorization"] = self.settings.authorization()
        if self.settings.basic_auth:
            request.prepare_auth(self.settings.basic_auth())
        return request

    def _prepared(
        self, method: str, path: str, params: Mapping[str, str | list[str]]
    ) -> requests.PreparedRequest:
        return self._session.prepare_request(
            requests.Request(method, self.url + path, params=params, headers=self.headers)
        )

    def _in_words(self, failure: Exception) -> str:
        text = f"{failure} {failure.__context__ or ''}"
        if isinstance(failure, requests.exceptions.ProxyError):
            return f"{self.where} cannot be reached through its proxy: check proxy_url"
        if isinstance(failure, requests.exceptions.SSLError):
            return f"no TLS with {self.where}: check tls_config (ca_file, cert_file, server name)"
        if isinstance(failure, requests.exceptions.ConnectTimeout):
            return (
                f"{self.where} does not accept connections in time: is it up, does a firewall drop packets?"
            )
        if isinstance(failure, requests.exceptions.Timeout | ReadTimeoutError | TimeoutError):
            seconds = f"{self.settings.timeout.total_seconds():g}"
            return f"{self.where} gave no whole answer within {seconds} s: it is overloaded or the query too heavy"
        if isinstance(failure, IncompleteRead | ProtocolError | requests.exceptions.ChunkedEncodingError):
            return f"{self.where} broke its answer off in the middle"
        if "refused" in text:
            return f"{self.where} refuses the connection: is Prometheus running, is the port right?"
        if "resolve" in text or "Name or service" in text:
            return f"the host of {self.where} has no address: check the url and DNS"
        if isinstance(failure, requests.exceptions.ConnectionError):
            return f"the connection to {self.where} broke before an answer came"
        if isinstance(failure, OSError) and failure.filename:
            return f"{failure.filename} cannot be read: {failure.strerror}"
        if "TLS" in text:  # it names the file that is missing
            return f"no TLS with {self.where}: {failure}"
        return f"{self.where} could not be asked: {type(failure).__name__}"

    def _refused(self, response: requests.Response, body: bytes) -> SourceError:
        status = response.status_code
        said = _servers_words(body)
        advice = {
            400: "correct the query",
            401: "check authorization or basic_auth",
            403: "this account may not query, or the tenant header is wrong",
            404: "check the url, and its path prefix",
            413: "the query is too long for a proxy before it",
            422: "correct the query",
            429: "it limits our requests: ask less often or raise its limits",
            503: "it is starting, overloaded, or the query timed out",
        }.get(status, "check the url" if status < 500 else "look at its log")
        if 300 <= status < 400:
            advice = "it redirects: give the final url, or authorization if that is a log-in page"
        words = f": {said}" if said else ""
        return SourceError(
            f"{self.where} answered {status}{words}; {advice}",
            temporary=status >= 500 or status == 429,
            status=status,
        )


def _servers_words(body: bytes) -> str:
    """What Prometheus says is wrong; nothing when something else answered."""
    try:
        said = msgspec.json.decode(body, type=_ErrorBody).error
    except msgspec.DecodeError:
        return ""
    return said if len(said) <= _LONGEST_WORDS else said[:_LONGEST_WORDS] + "…"


def _without_secrets(url: str) -> str:
    """The address for people: no name, no password, no query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"
