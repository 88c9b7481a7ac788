"""Secrets: never printed, and reread when their file changes."""

from pathlib import Path

from collectors.facts.results import SourceError


class SecretError(SourceError):
    """A secret cannot be read now, so its source is blind. The text names the file, never the content."""


class Secret:
    """A value, or a file with one. A call returns the current text: one line unless `has_lines`."""

    def __init__(self, *, value: str = "", file: Path | None = None, has_lines: bool = False) -> None:
        self._value = value
        self._file = file
        self._has_lines = has_lines
        self._stamp: tuple[int, int] | None = None

    def __call__(self) -> str:
        """Return the secret. Raises SecretError if its file cannot be read or is empty."""
        if self._file is None:
            return self._value
        try:
            status = self._file.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._value = self._file.read_text(encoding="utf-8").strip()
                self._stamp = stamp
        except OSError as error:
            raise SecretError(f"cannot read the secret in {self._file}: {error.strerror}") from error
        except UnicodeDecodeError:  # its text would show the bytes
            raise SecretError(f"the secret in {self._file} is not UTF-8 text") from None
        if not self._value:
            raise SecretError(f"the secret in {self._file} is empty")
        if not self._has_lines and not self._value.isprintable():  # not allowed in a header
            raise SecretError(f"the secret in {self._file} is not a single line of plain text")
        return self._value

    def __repr__(self) -> str:
        return f"Secret({self._file or '…'})"
