"""Options of a Prometheus: where it is, and the limits of its use."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import unquote, urlsplit

from yarl import URL

from collectors.sources.prometheus.dialects.choosing import Overrides
from collectors.sources.prometheus.errors import Failure, without_secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusOptions:
    """Where Prometheus (or Thanos, Mimir, VictoriaMetrics) is, and the limits of its use.

    `authorization` returns the whole header value, `basic_auth` name and password; both are called for each request,
    so that a rotated file is read again. `timeout` bounds a whole request, from the connection to the last byte.
    """

    url: str = field(repr=False)  # it may contain a password
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
    series_cap: int = 100_000  # 5,000 nodes of 8 GPUs have 40,000; the byte cap bounds the memory
    concurrency: int = 8
    waiting_cap: int = 1000  # queries that run or wait
    freshness_query: str = "max(timestamp(up))"  # the time of the newest scrape, in seconds; empty: no check
    stale_after: timedelta = timedelta(minutes=3)
    labels: Mapping[str, Overrides] = field(default_factory=dict)  # by exporter, instead of those looked up
    matchers: Mapping[str, str] = field(
        default_factory=dict
    )  # that the cluster's series have; empty: looked up
    unexposed: frozenset[str] = frozenset()  # exporters whose metrics this cluster does not give

    def endpoint(self, path: str) -> URL:
        """Return the URL of the API's path, without user and password. Raises SourceError for a bad url."""
        try:
            base = URL(self.url)
            return (base.with_user(None) / path).with_query({**base.query, **self.params})
        except ValueError:  # its text may contain the password
            raise Failure.BAD_URL.error(without_secrets(self.url)) from None

    def credentials(self) -> Mapping[str, str]:
        """Return the header to log in with, as of now. Raises OSError or SourceError if a secret cannot be read."""
        if self.basic_auth:
            return _basic(*self.basic_auth())
        if self.authorization:
            return {"Authorization": self.authorization()}
        address = urlsplit(self.url)
        if address.username:
            return _basic(unquote(address.username), unquote(address.password or ""))
        return {}


def _basic(username: str, password: str) -> Mapping[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{username}:{password}".encode()).decode()}
