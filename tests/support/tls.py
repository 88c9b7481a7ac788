"""TLS connections that a test has closed."""

import asyncio
from asyncio.sslproto import SSLProtocol
from typing import Any


async def end_closed_connections() -> None:
    """Drop the TLS connections that are closed and still wait for the peer's last message.

    A slow server sends it after the test's loop has ended: their sockets would be left open, and whichever test runs
    when they are collected would fail.
    """
    loop: Any = asyncio.get_running_loop()
    for transport in list(loop._transports.values()):
        protocol: Any = transport.get_protocol()
        if isinstance(protocol, SSLProtocol):
            above: Any = protocol._app_transport
            if above is None or above.is_closing():
                transport.abort()
    for _ in range(3):  # until the protocols have taken note of it
        await asyncio.sleep(0)
