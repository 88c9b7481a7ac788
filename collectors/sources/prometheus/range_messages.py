"""Messages between this process and the child that fetches ranges."""

import msgspec


class RangeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One range query, as a line of JSON on the child's standard input. Nothing of it is in argv or the environment.

    `url` has no user and password, `headers` have the credentials. Times are in seconds.
    """

    url: str
    headers: dict[str, str]
    form: dict[str, str]
    verify: str | bool  # the certificates to trust: a file or folder, or whether to verify at all
    cert_file: str
    key_file: str
    proxy_url: str
    connect_timeout: float
    timeout: float
    byte_cap: int


class RangeReply(msgspec.Struct, frozen=True, kw_only=True):
    """A line of JSON on its standard output, followed by `size` bytes: the body of the response.

    Without a response: it has more bytes than the cap, or `raised` is the exception and `failure` the name of its kind.
    """

    size: int = 0
    status: int = 0
    content_type: str = ""
    is_too_large: bool = False
    failure: str = ""
    raised: str = ""
