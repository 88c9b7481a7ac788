"""Stacks as `py-spy dump` prints them. Source: py-spy 0.3 and 0.4, src/dump.rs. Pure."""

import re
from dataclasses import dataclass

from collectors.facts.sentences import listed, sentence
from commands.execution.tools.reading import ToolResult, final_line, kept
from commands.execution.tools.stack_places import waiting_place

_PROCESS = re.compile(r"Process (?P<pid>\d+): ?(?P<command>.*)")
_THREAD = re.compile(r"Thread (?P<id>0x[0-9A-Fa-f]+|\d+) \((?P<state>[^)]*)\)(?:: \"(?P<name>.*)\")?")
_FRAME = re.compile(r"(?P<function>\S.*) \((?P<file>[^()]*?)(?::(?P<line>\d+))?\)")
_MAIN = "MainThread"
_DENIED = re.compile(r"(?i)permission denied|operation not permitted|ptrace")
_NOBODY = 3  # exit code of the script: no process of that kind is there


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame of a stack, as it is printed."""

    function: str
    file: str
    line: str = ""

    def __str__(self) -> str:
        return f"{self.function} ({self.file}:{self.line})" if self.line else f"{self.function} ({self.file})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadStack:
    """A thread of a process. Its frames begin with where it is now."""

    pid: int
    name: str
    state: str
    frames: tuple[Frame, ...] = ()


def threads_in(output: str) -> list[ThreadStack]:
    """Return the threads of a dump, also of one that is cut off; lines of other kinds are skipped."""
    found: list[ThreadStack] = []
    pid, head, frames = 0, None, list[Frame]()

    def end() -> None:
        nonlocal head
        if head is not None:
            name = head["name"] or ""
            found.append(ThreadStack(pid=pid, name=name, state=head["state"], frames=tuple(frames)))
        frames.clear()
        head = None

    for line in output.splitlines():
        if process := _PROCESS.fullmatch(line.rstrip()):
            end()
            pid = int(process["pid"][:9])
        elif thread := _THREAD.fullmatch(line.strip()):
            end()
            head = thread
        elif head is not None and line[:1] == " " and (frame := _FRAME.fullmatch(line.strip())):
            frames.append(Frame(function=frame["function"], file=frame["file"], line=frame["line"] or ""))
    end()
    return found


def read_stacks(output: str, exit_code: int) -> ToolResult:
    """Return where the main threads are. Those of one process that spawned the others, and waits for them, are not."""
    threads = threads_in(output)
    main = [one for one in threads if one.name == _MAIN and one.frames] or _first_of_each(threads)
    if not main:
        return ToolResult(error=_error(output, exit_code))
    places = {
        one.pid: waiting_place([(frame.function, frame.file, frame.line) for frame in one.frames])
        for one in main
    }
    working = {pid: place for pid, place in places.items() if not place.is_parent} or places
    said = list(dict.fromkeys(place.said for place in working.values()))
    lines: list[str] = []
    for one in main:
        if one.pid in working:
            lines.append(sentence("process {pid}, {state}", pid=one.pid, state=one.state))
            lines += [f"  {frame}" for frame in one.frames]
    return ToolResult(where=listed(said, "and"), lines=kept(lines))


def _first_of_each(threads: list[ThreadStack]) -> list[ThreadStack]:
    """Return the first thread of each process: some versions of Python give their main thread no name."""
    first: dict[int, ThreadStack] = {}
    for one in threads:
        if one.frames:
            first.setdefault(one.pid, one)
    return list(first.values())


def _error(output: str, exit_code: int) -> str:
    if exit_code == _NOBODY:
        return sentence("no Python process runs in it")
    if _DENIED.search(output):
        return sentence(
            "it is not allowed to read other processes: its container needs the capability SYS_PTRACE, and the node "
            "kernel.yama.ptrace_scope=0"
        )
    return final_line(output) or sentence("py-spy ended with {code} and printed nothing", code=exit_code)
