"""The resident memory of the whole bot: `yardmaster run` as a process, with its children, at its largest."""

import asyncio
import re
import sys
from datetime import timedelta
from pathlib import Path

import yaml

from demo.parts.processes import Program, answers, free_port, running

ROOT = Path(__file__).parents[1]
READY_WITHIN = timedelta(seconds=240)
WATCHED = timedelta(seconds=60)  # after it is ready: a few cycles of all rules
_PEAK = re.compile(r"VmHWM:\s*(\d+) kB")


async def peak_memory(url: str, kubeconfig: Path, folder: Path) -> int:
    """Return the bytes that it has taken at most a while after it was ready. `url`: a Prometheus."""
    address = f"127.0.0.1:{free_port()}"
    cluster = {"name": "prod-a", "kubernetes": {"kubeconfig": str(kubeconfig)}, "prometheus": {"url": url}}
    settings = {
        "clusters": [cluster],
        "store": {"url": f"sqlite+aiosqlite:///{folder / 'yard.db'}"},
        "http": {"listen": address},
    }
    file = folder / "settings.yaml"
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    program = Program(
        name="yardmaster",
        argv=(sys.executable, "-c", "from bot.cli import main; main()", "run", "--config", str(file)),
        log=folder / "yardmaster.log",
        folder=ROOT,
    )
    grace = timedelta(seconds=10)
    async with running(
        program, lambda: answers(f"http://{address}/readyz"), limit=READY_WITHIN, grace=grace
    ) as child:
        await asyncio.sleep(WATCHED.total_seconds())
        return sum(map(_peak, _family(child.pid)))


def _family(pid: int) -> list[int]:
    """Return the process and all that it started and that still run."""
    children = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text(encoding="ascii").split()
    ]
    return [pid, *(one for child in children for one in _family(child))]


def _peak(pid: int) -> int:
    found = _PEAK.search(Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    return int(found[1]) * 1024 if found else 0
