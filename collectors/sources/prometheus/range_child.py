"""The child process that fetches ranges: a blocking client, one request at a time, until its standard input ends."""

import sys
from typing import BinaryIO

import msgspec
import requests
from prometheus_api_client.prometheus_connect import PrometheusConnect
from urllib3.exceptions import HTTPError, IncompleteRead, ProtocolError, ReadTimeoutError
from urllib3.util.retry import Retry

from collectors.sources.prometheus.errors import Failure
from collectors.sources.prometheus.range_messages import RangeReply, RangeRequest

_CHUNK = 1 << 16


class RangeConnection(PrometheusConnect):
    """A PrometheusConnect with a request of its own: a form POST, a byte cap, and no retries."""

    def __init__(self, request: RangeRequest) -> None:
        session = requests.Session()
        session.trust_env = False  # ~/.netrc and the proxy variables must not apply
        session.verify = request.verify
        if request.cert_file:
            session.cert = (request.cert_file, request.key_file or request.cert_file)
        if request.proxy_url:
            session.proxies = {"http": request.proxy_url, "https": request.proxy_url}
        super().__init__(url=request.url, headers=request.headers, retry=Retry(0), session=session)

    def fetch(self, request: RangeRequest) -> tuple[RangeReply, bytes]:
        """Return the response, as far as the byte cap. Raises what requests and urllib3 raise."""
        response = self._session.post(
            self.url,
            data=request.form,
            headers=self.headers,
            timeout=(request.connect_timeout, request.timeout),
            stream=True,
            allow_redirects=False,
        )
        with response:
            body = bytearray()
            while part := response.raw.read1(_CHUNK, decode_content=True):
                body += part
                if len(body) > request.byte_cap:
                    return RangeReply(is_too_large=True), b""
        kind = response.headers.get("Content-Type", "")
        return RangeReply(size=len(body), status=response.status_code, content_type=kind), bytes(body)


def range_reply(request: RangeRequest) -> tuple[RangeReply, bytes]:
    """Return the reply to one request, and the body that follows it."""
    connection = RangeConnection(request)
    try:
        return connection.fetch(request)
    except (requests.RequestException, HTTPError, OSError) as failure:
        kind = _kind(failure)
        return RangeReply(failure=kind.name if kind else "", raised=type(failure).__name__), b""
    finally:
        connection.close()


def _kind(failure: Exception) -> Failure | None:
    text = f"{failure} {failure.__context__ or ''}"
    match failure:
        case requests.exceptions.ProxyError():
            return Failure.PROXY
        case requests.exceptions.SSLError():
            return Failure.TLS
        case requests.exceptions.ConnectTimeout():
            return Failure.NOT_ACCEPTED
        case requests.exceptions.Timeout() | ReadTimeoutError() | TimeoutError():
            return Failure.TIMEOUT
        case IncompleteRead() | ProtocolError() | requests.exceptions.ChunkedEncodingError():
            return Failure.CUT
        case requests.exceptions.ConnectionError() if "refused" in text:
            return Failure.REFUSED
        case requests.exceptions.ConnectionError() if "resolve" in text:
            return Failure.UNRESOLVED
        case requests.exceptions.ConnectionError():
            return Failure.NO_RESPONSE
        case OSError() if "TLS" in text:  # a certificate or key file is missing
            return Failure.TLS
        case _:
            return None


def serve_ranges(requests_in: BinaryIO, replies: BinaryIO) -> None:
    """Answer each line of `requests_in`."""
    for line in requests_in:
        reply, body = range_reply(msgspec.json.decode(line, type=RangeRequest))
        replies.write(msgspec.json.encode(reply) + b"\n")
        replies.write(body)
        replies.flush()


if __name__ == "__main__":
    serve_ranges(sys.stdin.buffer, sys.stdout.buffer)
