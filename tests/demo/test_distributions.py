"""The product, its templates and the demo as distributions: each wheel holds what it should and nothing else."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]


def files_of(project: Path, folder: Path) -> set[str]:
    """Return the files of the project's wheel, without its metadata."""
    (wheel,) = WheelBuilder(str(project)).build(directory=str(folder), versions=["standard"])
    return {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}


@pytest.mark.parametrize(
    ("project", "packages", "named"),
    [
        (
            ROOT,
            {"go_templates", "collectors", "alerts", "commands", "bot"},
            {"alerts/packs/gpu.yaml", "alerts/packs/runbooks/gpu-idle.md", "bot/cli/program.py"},
        ),
        (ROOT / "go_templates", {"go_templates"}, {"go_templates/__init__.py", "go_templates/template.py"}),
        (ROOT / "demo", {"demo"}, {"demo/scenarios/hot-gpu.yaml", "demo/lookalikes/slack/page/main.js"}),
    ],
    ids=["the product", "the templates", "the demo"],
)
def test_a_wheel_holds_its_own_packages_and_no_others(
    tmp_path: Path, project: Path, packages: set[str], named: set[str]
) -> None:
    files = files_of(project, tmp_path)

    assert {name.partition("/")[0] for name in files} == packages
    assert files >= named
    assert [name for name in files if "/tests/" in name] == []
