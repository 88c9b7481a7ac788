"""This file finds what is constant in a log line: its pattern, without the numbers, names and addresses in it."""

import re
from dataclasses import dataclass
from hashlib import blake2b

_ANY = "<*>"
_LABEL_LENGTH = 120  # characters of a pattern as a label; a hash of the whole tells longer ones apart
_READ = 2_000  # characters of a line that are looked at
_RUN = 12  # words of one phrase
_RUNS = 4

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_KEYED = re.compile(r"([\w.\-]{1,40}[=:]|[\"'(\[{<]+)(.+)")
_VARIABLE = re.compile(
    r"\d"  # numbers, hex, UUIDs, addresses, times, names of pods and nodes
    r"|^/|/.*/|\\"  # paths
    r"|<\*>|\[redacted"
    r"|^[a-z0-9]+(?:-[a-z0-9]+){2,}$"  # a-name-with-hyphens
    r"|^[0-9a-fA-F]{8,}$"
    r"|[=+/][A-Za-z+/]{16,}"  # base64
)
_EDGE = "\"'()[]{}<>,;:.!?"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePattern:
    """A line's pattern. `label` is short and stable, for identity; `runs` are its constant words, for searching."""

    label: str
    runs: tuple[str, ...]

    @property
    def words(self) -> int:
        """How many constant words there are: a pattern of one can be told from nothing."""
        return sum(len(run.split()) for run in self.runs)


def pattern_of(line: str) -> LinePattern:
    """The pattern of a line: `took 12ms to mount /a/b` and `took 9ms to mount /c` give the same one."""
    tokens = _ANSI.sub("", line[:_READ]).split()
    masked = [_masked(token) for token in tokens]
    while masked and masked[0] == _ANY:  # a time, a host and a pid at the line's start
        masked.pop(0)
    shape: list[str] = []
    for token in masked:
        if token != _ANY or not shape or shape[-1] != _ANY:
            shape.append(token)
    return LinePattern(label=_label(" ".join(shape)), runs=_runs(masked))


def _masked(token: str) -> str:
    """The token, or `<*>` in the place of what varies in it: `pid=12,` becomes `pid=<*>`."""
    bare = token.strip(_EDGE)
    if bare and not _VARIABLE.search(bare):
        return token
    if not bare:
        return token
    keyed = _KEYED.match(token)
    if keyed and not _VARIABLE.search(keyed.group(1).strip(_EDGE) or "x") and keyed.group(1)[-1] in "=:":
        return f"{keyed.group(1)}{_ANY}"
    return _ANY


def _runs(masked: list[str]) -> tuple[str, ...]:
    """The stretches of words without anything that varies, as phrases that an index with any analyser can find."""
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
