"""F11, first half: the packages of a fresh install of the product, without the demo.

The pinned requirements and the product are installed into an empty virtual environment, with the byte code that pip
leaves, and `yardmaster version` must start there.
"""

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.finished_process import finished
from benchmarks.row import Benchmark, CannotRunError, Goal, Outcome, Peer, Row

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
ERRBOT = "errbot by pip, measured earlier"
NAMED = ("kubernetes", "aiohttp", "slack_bolt", "prometheus_api_client", "elasticsearch", "apscheduler")
BIGGEST = 4  # packages that get a row of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The contents of site-packages. Sizes are megabytes (10^6 bytes) on disk."""

    packages: int
    megabytes: float
    bare_megabytes: float  # without byte code
    own_megabytes: float  # without byte code and without NAMED
    biggest: Mapping[str, float]


async def run(_: Mapping[str, Outcome]) -> Outcome:
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        python = folder / "venv" / "bin" / "python"
        await _output(sys.executable, "-m", "venv", "--without-pip", str(folder / "venv"))
        into = (sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet")
        await _output(*into, "--require-hashes", "-r", str(LOCK))
        await _output(*into, "--no-deps", str(ROOT))
        site_packages = next((folder / "venv" / "lib").glob("python*/site-packages"))
        version = await _output(str(python.with_name("yardmaster")), "version")
        if not version.startswith("yardmaster "):
            raise CannotRunError(f"`yardmaster version` printed {version!r}")
        found = await asyncio.to_thread(measure, site_packages)
    return Outcome(
        rows=(
            Row(
                id="F11",
                measure="packages of a fresh install without the demo, pinned",
                value=found.packages,
                peer=Peer(name=ERRBOT, value=33),
                goal=Goal(limit=60, of_value=True),
            ),
            Row(
                id="F11",
                measure="its size on disk, without byte code and the required client libraries",
                value=found.own_megabytes,
                unit="MB",
                peer=Peer(name=ERRBOT, value=75),
                goal=Goal(limit=80, of_value=True),
            ),
            Row(id="F11", measure="… with those libraries", value=found.bare_megabytes, unit="MB"),
            Row(id="F11", measure="… and with byte code", value=found.megabytes, unit="MB"),
            *(
                Row(id="F11", measure=f"… of that {package}", value=size, unit="MB")
                for package, size in found.biggest.items()
            ),
        )
    )


def measure(site_packages: Path) -> Installed:
    """Measure the packages in a site-packages folder."""
    packages = list(distributions(path=[str(site_packages)]))
    sizes = {str(package.metadata["Name"]): _size(package) for package in packages}
    biggest = sorted(sizes, key=lambda name: sizes[name], reverse=True)[:BIGGEST]
    files = {path: _on_disk(path) for path in site_packages.rglob("*")}
    bare = {path: size for path, size in files.items() if "__pycache__" not in path.parts}
    named = sum(size for path, size in bare.items() if path.relative_to(site_packages).parts[0] in NAMED)
    return Installed(
        packages=len(packages),
        megabytes=sum(files.values()) / 1e6,
        bare_megabytes=sum(bare.values()) / 1e6,
        own_megabytes=(sum(bare.values()) - named) / 1e6,
        biggest={name: sizes[name] / 1e6 for name in biggest},
    )


def _size(package: Distribution) -> int:
    paths = {Path(str(file.locate())).resolve() for file in package.files or ()}
    compiled = {Path(cache_from_source(str(path))) for path in paths if path.suffix == ".py"}
    return sum(_on_disk(path) for path in paths | compiled)


def _on_disk(path: Path) -> int:
    """Return the bytes on disk, as du counts them; 0 for a missing file."""
    try:
        return path.lstat().st_blocks * 512
    except FileNotFoundError:
        return 0


async def _output(*command: str) -> str:
    """Run the command and return what it printed. Raises CannotRunError with its errors when it fails."""
    done = await finished(*command, folder=ROOT)
    if done.code:
        raise CannotRunError(f"`{' '.join(command[:4])} …` failed: {done.errors[-400:]}")
    return done.output.decode(errors="replace").strip()


BENCHMARK = Benchmark(id="F11", title="a fresh install", run=run)
