"""Failures of a connection are said in our words, whichever way it failed."""

import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from collectors.transport_words import why_no_answer

KEY: Any = ConnectionKey("127.0.0.1", 1, True, True, None, None, None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (aiohttp.ClientConnectorError(KEY, ConnectionRefusedError(111, "x")), "it refuses the connection"),
        (
            aiohttp.ClientConnectorError(KEY, OSError(101, "Network is unreachable")),
            "it cannot be reached: Network is unreachable",
        ),
        (aiohttp.ClientConnectorError(KEY, OSError()), "it cannot be reached"),
        (aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "x")), "its name cannot be resolved"),
        (aiohttp.ClientProxyConnectionError(KEY, OSError(1, "x")), "its proxy cannot be reached"),
        (
            aiohttp.ClientConnectorCertificateError(KEY, ssl.SSLCertVerificationError("x")),
            "its certificate cannot be verified",
        ),
        (aiohttp.ClientConnectorSSLError(KEY, OSError(1, "x")), "no TLS connection to it can be made"),
        (aiohttp.ServerDisconnectedError(), "it ended the connection without an answer"),
        (aiohttp.ServerTimeoutError(), "it does not answer in time"),
        (TimeoutError(), "it does not answer in time"),
        (aiohttp.ClientPayloadError("x"), "it ended the connection in the middle of its answer"),
        (aiohttp.InvalidURL("http://:"), "its address is not valid"),
        (aiohttp.ClientOSError(104, "x"), "the connection to it failed"),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, Exception) else "",
)
def test_a_failure_is_said_in_our_words(error: Exception, words: str) -> None:
    assert why_no_answer(error) == words
