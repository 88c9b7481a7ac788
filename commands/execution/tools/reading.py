"""The result of a program in a container: one sentence, by which ranks are grouped, and its lines. Pure."""

from dataclasses import dataclass

from collectors.facts.one_line import one_line

LINES = 30  # that are kept of an answer
WIDTH = 200  # characters of a line
WHERE = 200  # characters of the sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """`where`: the sentence by which ranks are grouped, such as `wait in all_reduce`. `lines`: what it rests on.

    `error`: why nothing was learned; empty otherwise. Nothing of it is redacted yet.
    """

    where: str = ""
    lines: tuple[str, ...] = ()
    error: str = ""


def kept(lines: list[str]) -> tuple[str, ...]:
    """Return the first lines, each bounded and redacted."""
    return tuple(one_line(line, WIDTH) for line in lines if line.strip())[:LINES]


def final_line(output: str) -> str:
    """Return the last line that says something, for an error that nobody knows."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return one_line(lines[-1], WIDTH) if lines else ""
