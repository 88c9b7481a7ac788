"""This file compiles the regular expressions that come from outside: rule files, matchers in chat, settings.

They run on RE2, which is what Prometheus and Alertmanager speak. Its time grows with the text and with nothing else, so
no pattern runs away on a label or a log line that somebody chose for it.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Protocol

import re2

LONGEST = 2_000  # characters of a pattern


class Match(Protocol):
    """What was found, as in Python's `re`."""

    def __getitem__(self, group: int | str, /) -> str | None: ...

    def start(self) -> int: ...

    def end(self) -> int: ...

    def groups(self) -> tuple[str | None, ...]: ...

    def groupdict(self, default: str) -> Mapping[str, str]: ...


class Pattern(Protocol):
    """A compiled expression, as in Python's `re`. A text with half a surrogate pair raises UnicodeEncodeError."""

    @property
    def groups(self) -> int: ...

    @property
    def groupindex(self) -> Mapping[str, int]: ...

    def search(self, text: str) -> Match | None: ...

    def fullmatch(self, text: str) -> Match | None: ...

    def finditer(self, text: str) -> Iterator[Match]: ...

    def sub(self, repl: Callable[[Match], str], text: str) -> str: ...


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> Pattern:
    """The expression in RE2's syntax, which is Go's. Raises ValueError that says what is wrong with it."""
    if len(pattern) > LONGEST:
        raise ValueError(f"a regular expression longer than {LONGEST} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        found: Pattern = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        raise ValueError(
            reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        ) from None
    except UnicodeEncodeError:
        raise ValueError("it is no text") from None
    return found


def sound(text: str) -> str:
    """The text, with a mark for each half of a surrogate pair: JSON may bring one, and nothing can write it."""
    return text if text.isascii() else text.encode(errors="replace").decode()
