"""Refusals as Alertmanager's API words them before its own code sees a request: a code and a message, in JSON.

A code from 600 is one of its generated server, and is sent with the status 422.
"""

import msgspec
from aiohttp import web

UNREADABLE = 400
REQUIRED = 602
TOO_FEW = 612


def openapi_error(code: int, message: str) -> web.Response:
    """Return the answer to a request that is not what the API describes."""
    return web.Response(
        status=code if code < 600 else 422,
        body=msgspec.json.encode({"code": code, "message": message}),
        content_type="application/json",
    )


def code_of(error: Exception) -> int:
    """Return the code for a body that cannot be decoded."""
    return REQUIRED if "missing required field" in str(error) else UNREADABLE
