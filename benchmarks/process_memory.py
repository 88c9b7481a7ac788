"""The resident memory of a process and of all that it started."""

import re
from pathlib import Path


def resident(pid: int) -> int:
    """Return the bytes that they take now."""
    return sum(_field(one, "VmRSS") for one in _family(pid))


def peak(pid: int) -> int:
    """Return the bytes that each of them has taken at most, together."""
    return sum(_field(one, "VmHWM") for one in _family(pid))


def _family(pid: int) -> list[int]:
    """Return the process and all that it started and that still run."""
    children = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text(encoding="ascii").split()
    ]
    return [pid, *(one for child in children for one in _family(child))]


def _field(pid: int, name: str) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(rf"{name}:\s*(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0
