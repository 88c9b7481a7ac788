"""The start of a process: a library that only some settings need is not loaded without them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.new_store import new_store

# Each with the part of the settings that needs it, or the command.
LIBRARIES = {
    "kubernetes": "a cluster with Kubernetes",
    "elasticsearch": "a cluster with Elasticsearch",
    "slack_bolt": "Slack",
    "slack_sdk": "Slack",
    "apprise": "a channel of apprise",
    "prometheus_api_client": "a range, in a process of its own",
    "pandas": "a range, in a process of its own",
    "matplotlib": "a chart, in a process of its own",
    "numpy": "a chart, in a process of its own",
}
BUILT = """\
import asyncio, sys
import bot.main
from bot.settings.loading import read_settings
from bot.validation import validate
from bot.wiring import build
from pathlib import Path

async def built(file):
    assert not (await validate(file)).diagnostics
    async with build(read_settings(file)):
        print(*sorted(name for name in sys.modules if "." not in name))

asyncio.run(built(Path(sys.argv[1])))
"""


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "yardmaster.yaml"
    file.write_text(
        f"clusters: [{{name: prod-a, kubernetes: null}}]\n"
        f"store: {{url: '{new_store(tmp_path)}'}}\n"
        f"http: {{listen: '127.0.0.1:0'}}\n",
        encoding="utf-8",
    )
    return file


def loaded(settings: Path) -> set[str]:
    """Return the modules that a process has loaded once all of its parts are made, without what runs the tests."""
    run = subprocess.run(
        [sys.executable, "-c", BUILT, str(settings)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return set(run.stdout.split())


def test_a_library_is_loaded_only_with_what_needs_it(settings: Path) -> None:
    assert LIBRARIES.keys() & loaded(settings) == set()


def test_a_source_of_the_settings_loads_its_library(settings: Path) -> None:
    text = settings.read_text(encoding="utf-8")
    settings.write_text(
        text.replace("kubernetes: null", "kubernetes: null, elasticsearch: {url: 'http://127.0.0.1:9'}"),
        encoding="utf-8",
    )
    assert LIBRARIES.keys() & loaded(settings) == {"elasticsearch"}
