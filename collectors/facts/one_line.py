"""The shape of text from outside: one bounded line, without secrets and without characters that change how it is shown.

Without it, an annotation could write lines of its own into somebody's preview, or show other words than are there.
Every text that comes in or is shown passes here, so a secret is redacted here, before the text is cut.
"""

import re
from collections.abc import Sequence
from functools import partial
from unicodedata import category

from collectors.facts.redaction import redacted
from collectors.facts.sentences import Listed, Sentence, listed

NAME = 80  # characters of an owner, a role, a label of free text
IDENTITY = 400  # of a name by which Kubernetes knows an object: namespace/Kind/name at its longest
SENTENCE = 500  # of a log line, a message, a reason
MESSAGE = 2000  # of a condition, an event, an error
LONGEST = 8000  # of any line that is shown

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_INVISIBLE = ("Cc", "Cf", "Cs")  # controls; bidirectional and other formats; lone surrogates
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_SURROGATE = re.compile("[\ud800-\udfff]")
_LEAST = 1000  # characters that are read of a longer text
_HALF = 400  # characters at the end of what is read, which are not shown
_READ = 8  # times the limit: how much of a longer text is read


def one_line(text: str, limit: int) -> str:
    """Return the text as one line of at most `limit` characters; whitespace collapses, a cut text ends in `…`."""
    if isinstance(text, Sentence):
        return text.cleaned(partial(one_line, limit=limit))
    if len(text) <= limit and text.isprintable() and "  " not in text and text == text.strip():
        return _cut(redacted(text), limit)
    line, is_cut = _safe(text, limit)
    return _cut(" ".join(line.split()), limit, is_cut=is_cut)


def printable(text: str, limit: int) -> str:
    """Return the text as one line of at most `limit` characters, with its spaces as they are: for what is aligned."""
    if isinstance(text, Sentence):
        return text.cleaned(partial(printable, limit=limit))
    if len(text) <= limit and text.isprintable():
        return _cut(redacted(text), limit)
    line, is_cut = _safe(text, limit)
    return _cut(line, limit, is_cut=is_cut)


def _safe(text: str, limit: int) -> tuple[str, bool]:
    """Return what is read of a text, visible and without secrets, and whether more of it was there.

    It is redacted twice: with its lines, and again once nothing invisible splits a secret.
    """
    read = text[: max(limit * _READ, _LEAST)]
    is_cut = len(text) > len(read)
    if is_cut:  # it may end in half a secret
        read = read[:-_HALF]
    return redacted(_visible(redacted(_SURROGATE.sub("\ufffd", read)))), is_cut


def _cut(line: str, limit: int, *, is_cut: bool = False) -> str:
    return f"{line[: limit - 1].rstrip()}…" if is_cut or len(line) > limit else line


def _visible(text: str) -> str:
    """Replace tabs and line breaks by spaces, and what is invisible by `�`, so that no two names look the same."""
    return "".join(
        " " if one in _SPACES else "\ufffd" if category(one) in _INVISIBLE else one
        for one in _ANSI.sub("", text)
    )


def some_of(names: Sequence[str], shown: int) -> Listed:
    """Return the first of the names, and how many more there are."""
    return listed(names, most=shown)
