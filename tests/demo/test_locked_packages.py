"""The built wheel with exactly the packages of requirements.lock: it checks its settings, runs, and stops."""

import os
import re
import subprocess
import venv
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.packaging_run import ROOT, run_until_ready

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]+))?", re.M)
_OTHER_PLATFORMS = ("sys_platform == 'win32'", "sys_platform == 'emscripten'", "platform_system == 'Windows'")


def locked() -> dict[str, str]:
    """Return the versions of the packages that the lock has for this platform."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return {
        name: version
        for name, version, marker in _PIN.findall(text)
        if not any(one in marker for one in _OTHER_PLATFORMS)
    }


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel, and links to the locked packages of this one."""
    folder = tmp_path_factory.mktemp("locked")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    for name, version in locked().items():
        installed = distribution(name)
        assert installed.version == version, (
            f"requirements-dev.lock has another {name} than requirements.lock"
        )
        tops = {Path(str(file)).parts[0] for file in installed.files or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(installed.locate_file(top))))
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with ZipFile(wheel) as files:
        files.extractall(site)
    return folder / "venv" / "bin" / "python"


def test_it_checks_settings_runs_and_stops(python: Path, tmp_path: Path) -> None:
    program = tmp_path / "yardmaster"
    program.write_text(f"#!{python}\nfrom bot.cli import main\nmain()\n", encoding="utf-8")
    program.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        (program, "version"), capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    assert (done.returncode, done.stdout.split()[:1]) == (0, ["yardmaster"]), done.stderr
    assert "ready" in run_until_ready(program, tmp_path)
