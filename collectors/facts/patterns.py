"""Regular expressions from outside: rule files, matchers in chat, settings.

They run on RE2, whose syntax Prometheus and Alertmanager use. Its time is linear in the length of the text, so no label
or log line can be crafted to stall a pattern.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Protocol

import re2

from collectors.facts.sentences import sentence

LONGEST = 2_000  # characters of a pattern


class Match(Protocol):
    """A match, as in Python's `re`."""

    def __getitem__(self, group: int | str, /) -> str | None: ...

    def start(self) -> int: ...

    def span(self, group: int = 0, /) -> tuple[int, int]: ...

    def end(self) -> int: ...

    def groups(self) -> tuple[str | None, ...]: ...

    def groupdict(self, default: str) -> Mapping[str, str]: ...


class Pattern(Protocol):
    """A compiled expression, as in Python's `re`. A text with a lone surrogate raises UnicodeEncodeError."""

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
    """Compile an expression in RE2's syntax, which is Go's. Raises ValueError that says what is wrong with it."""
    if len(pattern) > LONGEST:
        raise ValueError(sentence("a regular expression longer than {most} characters", most=LONGEST))
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
        raise ValueError(sentence("it is not valid text")) from None
    return found


def replace_surrogates(text: str) -> str:
    """Replace each lone surrogate by `?`: JSON may contain one, and it cannot be encoded."""
    return text if text.isascii() else text.encode(errors="replace").decode()
