"""Patterns of log lines: their constant part, without numbers, names and addresses."""

import re
from dataclasses import dataclass
from hashlib import blake2b

from collectors.facts.redaction import MARK

_ANY = "…"
_LABEL_LENGTH = 120  # characters of a pattern as a label; longer ones end in a hash of the whole
_READ = 2_000  # characters of a line that are read
_RUN = 12  # words of one phrase
_RUNS = 4

_KEYED = re.compile(r"([\w.\-]{1,40}[=:]|[\"'(\[{<]+)(.+)")
_VARIABLE = re.compile(
    r"\d"  # numbers, hex, UUIDs, addresses, times, names of pods and nodes
    r"|^/|/.*/|\\"  # paths
    r"|…"
    r"|^[a-z0-9]+(?:-[a-z0-9]+){2,}$"  # a-name-with-hyphens
    r"|^[0-9a-fA-F]{8,}$"
    r"|[=+/][A-Za-z+/]{16,}"  # base64
)
_EDGE = "\"'()[]{}<>,;:.!?"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePattern:
    """The pattern of a line. `label` is short and stable, for identity; `runs` are its phrases, for searching."""

    label: str
    runs: tuple[str, ...]

    @property
    def words(self) -> int:
        """The number of constant words: a pattern with one word is not distinctive."""
        return sum(len(run.split()) for run in self.runs)


def pattern_of(line: str) -> LinePattern:
    """Return the pattern of a line. `took 12ms to mount /a/b` and `took 9ms to mount /c` have the same one."""
    tokens = line[:_READ].split()
    if len(line) > _READ:
        tokens = tokens[:-1]  # it may be half a word
    masked = [_masked(token) for token in tokens]
    while masked and masked[0] == _ANY:  # time, host and pid at the start of the line
        masked.pop(0)
    shape: list[str] = []
    for token in masked:
        if token != _ANY or not shape or shape[-1] != _ANY:
            shape.append(token)
    return LinePattern(label=_label(" ".join(shape)), runs=_runs(masked))


def _masked(token: str) -> str:
    """Replace what varies in a token with `…`: `pid=12,` becomes `pid=…`.

    So does what is not in the index as it is here: a redacted word, and a word with controls in it, such as colors.
    """
    bare = token.strip(_EDGE)
    is_as_indexed = MARK not in token and token.isprintable()
    if is_as_indexed and not (bare and _VARIABLE.search(bare)):
        return token
    keyed = _KEYED.match(token)
    if keyed and not _VARIABLE.search(keyed.group(1).strip(_EDGE) or "x") and keyed.group(1)[-1] in "=:":
        return f"{keyed.group(1)}{_ANY}"
    return _ANY


def _runs(masked: list[str]) -> tuple[str, ...]:
    """Return the longest phrases of constant words, which an index with any analyzer can find."""
    runs: list[list[str]] = [[]]
    for token in masked:
        if _ANY in token or len(runs[-1]) >= _RUN:
            runs.append([])
        if _ANY not in token and any(sign.isalnum() for sign in token):
            runs[-1].append(token)
    longest = sorted((run for run in runs if run), key=lambda run: -len(run))[:_RUNS]
    return tuple(" ".join(run) for run in longest)


def _label(shape: str) -> str:
    if len(shape) <= _LABEL_LENGTH:
        return shape
    digest = blake2b(shape.encode(), digest_size=4).hexdigest()
    return f"{shape[:_LABEL_LENGTH].rstrip()}… {digest}"
