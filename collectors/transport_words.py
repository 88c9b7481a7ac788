"""Failures of a connection in words of our own: a library's are about sockets, and people read ours."""

import ssl

import aiohttp

from collectors.facts.sentences import sentence


def why_no_answer(error: BaseException) -> str:
    """Return why a server gave no answer, as a part of a sentence after its name: `refuses the connection`."""
    match error:
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return sentence("its proxy cannot be reached")
        case aiohttp.ClientConnectorCertificateError() | ssl.SSLCertVerificationError():
            return sentence("its certificate cannot be verified")
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return sentence("no TLS connection to it can be made")
        case aiohttp.ClientConnectorDNSError():
            return sentence("its name cannot be resolved")
        case aiohttp.ClientConnectorError(os_error=ConnectionRefusedError()) | ConnectionRefusedError():
            return sentence("it refuses the connection")
        case aiohttp.ClientConnectorError(os_error=reason) if reason.strerror:
            return sentence("it cannot be reached: {reason}", reason=reason.strerror)
        case aiohttp.ClientConnectorError():
            return sentence("it cannot be reached")
        case TimeoutError():
            return sentence("it does not answer in time")
        case aiohttp.ClientPayloadError():
            return sentence("it ended the connection in the middle of its answer")
        case aiohttp.ServerDisconnectedError():
            return sentence("it ended the connection without an answer")
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return sentence("its address is not valid")
        case _:
            return sentence("the connection to it failed")
