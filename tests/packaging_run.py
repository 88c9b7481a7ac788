"""`python -m tests.packaging_run`: installs Yardmaster as README says, each way in an empty environment, and tries it.

It needs a package index, and uv for `uv tool install` and for the lowest versions. The result is docs/packaging.json.
"""

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from collectors.facts.clock import SystemClock
from demo.parts.processes import free_port

ROOT = Path(__file__).parent.parent
RESULT = ROOT / "docs" / "packaging.json"
SCENARIO = "hot-gpu"
READY_WITHIN = 120.0  # seconds


class InstallError(Exception):
    """A step failed. The text is the end of its output."""


def wheels(folder: Path) -> tuple[Path, Path]:
    """Build the wheels of the product and of the demo, and return their paths."""
    for project in (ROOT, ROOT / "demo"):
        argv = (*_python(sys.executable), "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
        step(*argv, "--wheel-dir", folder, project)
    (product,) = folder.glob("yardmaster-*.whl")
    (demo,) = folder.glob("yardmaster_demo-*.whl")
    return product, demo


def step(*argv: object, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a command and return its output. Raises InstallError."""
    done = subprocess.run(
        [str(word) for word in argv],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, **(env or {})},
    )
    if done.returncode:
        raise InstallError(f"{' '.join(str(word) for word in argv)}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def _python(program: Path | str) -> tuple[str, str]:
    return str(program), "-m"


def environment(folder: Path) -> Path:
    """Create an empty virtual environment and return its Python."""
    step(sys.executable, "-m", "venv", folder)
    return folder / "bin" / "python"


def with_lock(folder: Path, product: Path, demo: Path) -> Path:
    """The locked packages by pip, as the container does."""
    python = environment(folder)
    lock = ROOT / "requirements-charts.lock"
    step(*_python(python), "pip", "install", "--quiet", "--require-hashes", "-r", lock)
    step(*_python(python), "pip", "install", "--quiet", "--no-deps", product, demo)
    return python


def newest_by_pip(folder: Path, product: Path, demo: Path) -> Path:
    """The newest versions that pyproject.toml allows, by pip."""
    python = environment(folder)
    step(*_python(python), "pip", "install", "--quiet", product)
    step(*_python(python), "pip", "install", "--quiet", f"{product}[charts]", demo)
    return python


def newest_by_uv_tool(folder: Path, product: Path, demo: Path) -> Path:
    """`uv tool install`, into a folder of its own."""
    own = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    step(uv(), "tool", "install", "--quiet", "--with", f"{product}[charts]", "--with", demo, product, env=own)
    return folder / "tools" / "yardmaster" / "bin" / "python"


def lowest(folder: Path, product: Path, demo: Path) -> Path:
    """The lowest version of each package that pyproject.toml names."""
    python = environment(folder)
    compiled = folder / "lowest.txt"
    argv = ("pip", "compile", "--quiet", "--no-header", "--no-annotate", "--resolution", "lowest-direct")
    step(uv(), *argv, "--extra", "charts", ROOT / "pyproject.toml", "--output-file", compiled)
    step(uv(), "pip", "install", "--quiet", "--python", python, "-r", compiled)
    step(uv(), "pip", "install", "--quiet", "--no-deps", "--python", python, product, demo)
    return python


WAYS: Mapping[str, Callable[[Path, Path, Path], Path]] = {
    "the locked versions, pip": with_lock,
    "the newest versions, pip": newest_by_pip,
    "the newest versions, uv tool": newest_by_uv_tool,
    "the lowest versions, uv pip": lowest,
}


def uv() -> str:
    found = shutil.which("uv")
    if found is None:
        raise InstallError("uv is not installed: see https://docs.astral.sh/uv/")
    return found


def versions(python: Path) -> dict[str, str]:
    """Return the installed versions of what pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [re.match(r"[A-Za-z0-9-]+", one) for one in project["dependencies"]]
    names = sorted(one[0] for one in wanted if one is not None)
    code = "import sys, importlib.metadata as m; print(*(m.version(one) for one in sys.argv[1:]), sep='\\n')"
    return dict(zip(names, step(python, "-c", code, *names).split(), strict=True))


def try_it(python: Path, folder: Path) -> list[str]:
    """Run `version`, `check`, `run` until it is ready, and one scenario of the demo; return what was done."""
    program = python.parent / "yardmaster"
    done = [step(program, "version", cwd=folder).strip(), run_until_ready(program, folder)]
    step(program, "demo", "--once", "--scenario", SCENARIO, cwd=folder)
    return [*done, f"demo --once --scenario {SCENARIO}: passed"]


def run_until_ready(program: Path, folder: Path) -> str:
    """Check settings, run them until `/readyz` says so, and stop; return what was done. Raises InstallError."""
    port, settings, log = free_port(), folder / "settings.yaml", folder / "run.log"
    settings.write_text(
        f'store: {{url: "sqlite+aiosqlite:///{folder / "yard.db"}"}}\nhttp: {{listen: "127.0.0.1:{port}"}}\n',
        encoding="utf-8",
    )
    checked = step(program, "check", "--config", settings, cwd=folder).strip()
    with log.open("wb") as output:
        argv = (program, "run", "--config", settings)
        process = subprocess.Popen(argv, stdout=output, stderr=output, cwd=folder)
    try:
        until = time.monotonic() + READY_WITHIN
        while not _is_ready(port):
            if process.poll() is not None or time.monotonic() > until:
                raise InstallError(f"run is not ready: {log.read_text(encoding='utf-8')[-2000:]}")
            time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        if code := process.wait(READY_WITHIN):
            raise InstallError(
                f"run ended with {code} after SIGTERM: {log.read_text(encoding='utf-8')[-2000:]}"
            )
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return f"check: {checked} run: ready, and stopped by SIGTERM"


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@click.command()
@click.option("--record", is_flag=True, help=f"write {RESULT.relative_to(ROOT)}")
@click.option("--only", type=click.Choice(list(WAYS)), help="try one way of installing only")
def main(record: bool, only: str | None) -> None:
    """Install Yardmaster each way in an empty environment, and try it; exit 1 if one fails."""
    ways: dict[str, object] = {}
    is_whole = True
    with tempfile.TemporaryDirectory(prefix="yardmaster-packaging-") as name:
        home = Path(name)
        (home / "wheels").mkdir()
        product, demo = wheels(home / "wheels")
        for number, (way, install) in enumerate(WAYS.items()):
            if only not in (None, way):
                continue
            folder = home / str(number)
            folder.mkdir()
            try:
                python = install(folder, product, demo)
                ways[way] = {"done": try_it(python, folder), "versions": versions(python)}
                click.echo(f"{way}: passed")
            except InstallError as error:
                is_whole = False
                ways[way] = {"failed": str(error)}
                click.echo(f"{way}: FAILED\n{error}", err=True)
    if record:
        result = {
            "at": f"{SystemClock().now():%Y-%m-%dT%H:%M:%SZ}",
            "python": platform.python_version(),
            "ways": ways,
        }
        RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    sys.exit(0 if is_whole else 1)


if __name__ == "__main__":
    main()
