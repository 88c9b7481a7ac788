"""The shape of text from outside: one line of bounded length, without characters that change how it is shown.

Without it, an annotation could write lines of its own into somebody's preview, or show other words than are there.
"""

import re
from unicodedata import category

NAME = 80  # characters of an owner, a role, a label of free text
IDENTITY = 400  # of a name by which Kubernetes knows an object: namespace/Kind/name at its longest
SENTENCE = 500  # of a log line, a message, a reason
MESSAGE = 2000  # of a condition, an event, an error
LONGEST = 8000  # of any line that is shown

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_INVISIBLE = ("Cc", "Cf", "Cs")  # controls; bidirectional and other formats; lone surrogates
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_READ = 8  # times the limit: how much of a longer text is read


def one_line(text: str, limit: int) -> str:
    """Return the text as one line of at most `limit` characters; whitespace collapses, a cut text ends in `…`."""
    if len(text) <= limit and text.isprintable() and "  " not in text and text == text.strip():
        return text
    return printable(
        " ".join(_visible(text[: limit * _READ]).split()), limit, is_cut=len(text) > limit * _READ
    )


def printable(text: str, limit: int, *, is_cut: bool = False) -> str:
    """Return the text as one line of at most `limit` characters, with its spaces as they are: for what is aligned."""
    if not is_cut and len(text) <= limit and text.isprintable():
        return text
    line = _visible(text[: limit * _READ])
    return f"{line[: limit - 1].rstrip()}…" if is_cut or len(line) > limit else line


def _visible(text: str) -> str:
    """Replace tabs and line breaks by spaces, and what is invisible by `�`, so that no two names look the same."""
    return "".join(
        " " if one in _SPACES else "\ufffd" if category(one) in _INVISIBLE else one
        for one in _ANSI.sub("", text)
    )
