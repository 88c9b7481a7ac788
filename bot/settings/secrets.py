"""This file has secrets: never printed, and read again when their file changes."""

from pathlib import Path

from collectors.facts.results import SourceError


class SecretError(SourceError):
    """A secret cannot be read now: whoever asks with it is blind. Names the file, never what is in it."""


class Secret:
    """A value, or a file that holds one. Calling it gives the text as of now, one line unless it `has_lines`."""

    def __init__(self, *, value: str = "", file: Path | None = None, has_lines: bool = False) -> None:
        self._value = value
        self._file = file
        self._has_lines = has_lines
        self._stamp: tuple[int, int] | None = None

    def __call__(self) -> str:
        """The secret. Raises SecretError when its file cannot be read or is empty."""
        if self._file is None:
            return self._value
        try:
            found = self._file.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if stamp != self._stamp:
                self._value = self._file.read_text(encoding="utf-8").strip()
                self._stamp = stamp
        except OSError as error:
            raise SecretError(f"cannot read the secret in {self._file}: {error.strerror}") from error
        except UnicodeDecodeError:  # which would show the bytes
            raise SecretError(f"the secret in {self._file} is no text in UTF-8") from None
        if not self._value:
            raise SecretError(f"the secret in {self._file} is empty")
        if not self._has_lines and not self._value.isprintable():  # no header would take it
            raise SecretError(f"the secret in {self._file} is more than one line of plain text")
        return self._value

    def __repr__(self) -> str:
        return f"Secret({self._file or '…'})"
