"""Judging of a value: whether the text after a name such as `token` is a secret, or words, a number, a file, nothing.

All of them are pure, and linear in the length.
"""

import re
from collections.abc import Callable

MARK = "[redacted]"

Judge = Callable[[str], bool]

# A value that stands for another, or for none. `kubectl describe` writes `<set to the key …>`.
_PLACEHOLDER = re.compile(
    r"(?i)[*.•…_-]*|[bru]|x{3,}|<.*|\[[\w *]*\]?|\([\w ]*\)?|\{\{?.*|%\w+%|\$(?:\w+|[({].*)"
    r"|(?:os\.(?:environ|getenv)|process\.env|getenv).*|[a-z_][\w.]*\("
    r"|none|null|nil|true|false|yes|no|undefined|unset|omitted|empty|redacted|required|optional|n/a|not[ _]set"
)
# A file; not each text with a slash in front, which base64 may have.
_FILE = re.compile(
    r"(?:file:/*|~|\.{0,2})/(?:app|data|etc|home|mnt|opt|root|run|secrets|srv|tmp|usr|var|work|workspace)(?:/.*)?"
    r"|[\w./-]+\.(?:crt|csv|json|key|log|pem|py|secret|txt|yaml|yml)(?::.*)?"
)
# How a sentence about a password goes on, in place of the password.
_PROSE = re.compile(
    r"(?i)(?:an?|and|are|authentication|bad|but|check|can(?:not|'t)?|context|could|denied|does|error|expected|expired|failed|field"
    r"|for|has|have|in(?:correct|valid)?|is|it|length|missing|must|no|not|of|or|password|permission|please|rejected|required|reset|see|set"
    r"|should|the|this|timed?|to|too|unable|unauthorized|unexpected|unknown|updated|use[ds]?|value|was|were|will|with|wrong|you)"
    r"(?:\W.*|$)"
    r"|[a-z_]\w*=[^=].*"  # nothing, and the next field
)
_ATTRIBUTE = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
_NUMBER = re.compile(r"[-+]?[\d.,:]{1,9}(?:[a-z%]{1,3})?")
_EDGE = " \t,;.)]}`"


def is_set(value: str) -> bool:
    """Whether it is a value of its own: not a mark, a variable, a file or a word for nothing."""
    bare = value.strip(_EDGE)
    return bool(bare) and MARK not in value and not (_PLACEHOLDER.fullmatch(bare) or _FILE.fullmatch(bare))


def is_no_number(value: str) -> bool:
    """Whether it is a value, and more than a number or a variable of code: `token=4096` counts tokens."""
    bare = value.strip(_EDGE)
    return is_set(bare) and not (_NUMBER.fullmatch(bare) or _ATTRIBUTE.fullmatch(bare))


def is_no_prose(value: str) -> bool:
    """Whether it is a value, and not how a sentence goes on."""
    return is_set(value) and _PROSE.fullmatch(value.strip(_EDGE)) is None


def is_mixed(value: str) -> bool:
    """Whether letters are mixed with digits or signs, as in a password: no word, number, name or call."""
    bare = value.strip(_EDGE)
    return (
        len(bare) >= 6
        and is_no_number(bare)
        and "://" not in bare
        and not bare.endswith((":", "("))
        and any(one.isalpha() for one in bare)
        and any(one.isdigit() for one in bare)
    )


def is_random(value: str) -> bool:
    """Whether it is long and mixed, as what a program drew."""
    return is_mixed(value) and len(value.strip(_EDGE)) >= 16


def is_key_line(value: str) -> bool:
    """Whether a word of base64 has capitals, small letters and digits all through, as a line of a private key has."""
    kinds = (str.isupper, str.islower, str.isdigit)
    counts = [sum(map(kind, value)) for kind in kinds]
    return counts[0] >= 8 and counts[1] >= 8 and counts[2] >= 2
