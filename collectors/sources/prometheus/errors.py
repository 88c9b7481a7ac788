"""The errors of requests to Prometheus: what failed, where, and what to do. No text contains a secret."""

from enum import Enum
from urllib.parse import urlsplit

import msgspec

from collectors.facts.results import SourceError, TooLargeError
from collectors.facts.sentences import listed, sentence
from collectors.readable_json import json_decoded

_LONGEST_ERROR = 300  # characters of the server's error

_ADVICE = {
    400: sentence("correct the query"),
    401: sentence("check authorization or basic_auth"),
    403: sentence("this account may not query, or the tenant header is wrong"),
    404: sentence("check the url, and its path prefix"),
    413: sentence("the query is too long for a proxy in front of it"),
    422: sentence("correct the query"),
    429: sentence("it limits the rate of requests: query less often or raise its limits"),
    503: sentence("it is starting or overloaded, or the query timed out"),
}


class Failure(Enum):
    """Why there is no response."""

    PROXY = "{where} cannot be reached through its proxy: check proxy_url"
    TLS = "no TLS connection to {where}: check tls_config (ca_file, cert_file, server name)"
    NOT_ACCEPTED = (
        "{where} did not accept the connection in time: is it up, and does a firewall drop packets?"
    )
    TIMEOUT = (
        "{where} did not answer completely within {limit:g} s: it is overloaded or the query is too heavy"
    )
    CUT = "{where} closed the connection in the middle of the response"
    REFUSED = "{where} refuses the connection: is Prometheus running, and is the port right?"
    UNRESOLVED = "the host name of {where} does not resolve: check the url and DNS"
    NO_RESPONSE = "the connection to {where} failed before a response came"
    BAD_URL = "{where} is not a usable address: give the url like http://prometheus:9090, and check proxy_url"

    def error(self, where: str, *, limit: float = 0) -> SourceError:
        """Return the error; `limit` is the timeout in seconds."""
        template: str = self.value
        given = {"where": where} if self is not Failure.TIMEOUT else {"where": where, "limit": limit}
        return SourceError(sentence(template, **given))


class _ErrorBody(msgspec.Struct):
    error: str = ""


_error_body = msgspec.json.Decoder(_ErrorBody)


def check_response(where: str, status: int, content_type: str, body: bytes) -> None:
    """Raise SourceError unless the response is a JSON object with status 200."""
    if status != 200:
        raise _refused(where, status, body)
    if body[:1] != b"{":
        kind = content_type.partition(";")[0] or sentence("no content type")
        raise SourceError(
            sentence(
                "{where} answered with {kind} instead of JSON: a proxy or a log-in page is in front "
                "of it, or the path of the url is wrong",
                where=where,
                kind=kind,
            )
        )


def too_large(where: str, cap: int) -> TooLargeError:
    """Return the error of a response with more than `cap` bytes."""
    return TooLargeError(
        sentence(
            "{where} answered with more than {cap:g} MiB (prometheus.byte_cap): narrow the "
            "query, aggregate it, or raise the cap",
            where=where,
            cap=cap / (1 << 20),
        ),
        temporary=False,
    )


def without_secrets(url: str) -> str:
    """Return the address for people, without user, password and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return sentence("the url of Prometheus")
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def _refused(where: str, status: int, body: bytes) -> SourceError:
    error = _error_of(body)
    advice = _ADVICE.get(status, sentence("check the url") if status < 500 else sentence("check its log"))
    if 300 <= status < 400:
        advice = sentence("it redirects: give the final url, or authorization if that is a log-in page")
    answer = sentence("{where} answered {status}", where=where, status=str(status))
    if error:
        answer = listed([answer, error], ":")
    kind = TooLargeError if "too many samples" in error else SourceError  # --query.max-samples
    return kind(
        sentence("{answer}; {advice}", answer=answer, advice=advice),
        temporary=status >= 500 or status == 429,
        status=status,
    )


def _error_of(body: bytes) -> str:
    """Return the error that Prometheus gives; empty when something else answered."""
    try:
        error = json_decoded(_error_body.decode, body).error
    except msgspec.DecodeError:
        return ""
    return error if len(error) <= _LONGEST_ERROR else error[:_LONGEST_ERROR] + "…"
