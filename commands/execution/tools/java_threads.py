"""Threads of Java as `jstack` prints them. Source: OpenJDK 8 to 21, src/hotspot/share/runtime/threads.cpp. Pure."""

import re

from collectors.facts.sentences import sentence
from commands.execution.tools.reading import ToolResult, final_line, kept

_THREAD = re.compile(r'"(?P<name>.*)" (?:#\d+ )?.*')
_FRAME = re.compile(r"\s+at (?P<function>[\w.$/<>@]+)\((?P<where>[^)]*)\)")
_DEADLOCK = re.compile(r"Found (?:one|\d+) (?:Java-level )?deadlocks?.*")
_NOBODY = 3


def read_java_threads(output: str, exit_code: int) -> ToolResult:
    """Return where the main thread is, and whether Java itself has found a deadlock."""
    lines, inside, shown = output.splitlines(), False, list[str]()
    for line in lines:
        if head := _THREAD.fullmatch(line):
            inside = head["name"] == "main"
        if inside:
            shown.append(line)
    if any(map(_DEADLOCK.match, lines)):
        return ToolResult(where=sentence("are in a deadlock that Java reports"), lines=kept(shown or lines))
    frame = next((found for line in shown if (found := _FRAME.fullmatch(line))), None)
    if frame is None:
        return ToolResult(error=_error(output, exit_code))
    said = sentence("in {function} ({where})", function=frame["function"], where=frame["where"])
    return ToolResult(where=said, lines=kept(shown))


def _error(output: str, exit_code: int) -> str:
    if exit_code == _NOBODY:
        return sentence("no Java process runs in it")
    return final_line(output) or sentence("jstack ended with {code} and printed nothing", code=exit_code)
