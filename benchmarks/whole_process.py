"""The resident memory of the whole bot: `yardmaster run` as a process, with its children, at its largest."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

import yaml

from benchmarks.process_memory import peak
from demo.parts.processes import Program, answers, free_port, running

ROOT = Path(__file__).parents[1]
READY_WITHIN = timedelta(seconds=240)
WATCHED = timedelta(seconds=60)  # after it is ready: a few cycles of all rules


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
        return peak(child.pid)
