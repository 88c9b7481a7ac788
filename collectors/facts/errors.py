"""This file has the error that a source may raise while looking."""


class SourceError(Exception):
    """A look failed. The text says what, where and what to do; never a token, never a raw body.

    `temporary` tells whether the same look may work later without anybody's help.
    """

    def __init__(self, text: str, *, temporary: bool = True, status: int | None = None) -> None:
        super().__init__(text)
        self.temporary = temporary
        self.status = status  # the HTTP status, where there was one
