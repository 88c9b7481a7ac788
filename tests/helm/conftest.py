"""This file renders the chart for the tests of this folder."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from helm.generate import CHART
from tests.real.parts.layout import KUBERNETES

CI = CHART / "ci"
Render = Callable[..., list[dict[str, Any]]]


class RefusedError(Exception):
    """Helm's own words for why it does not render."""


@pytest.fixture
def template(helm_path: Path) -> Callable[..., str]:
    """`helm template` with a values file of ci/ and more flags. Raises RefusedError."""

    def run(*flags: str, values: str = "minimal", namespace: str = "ops") -> str:
        chosen = (
            "--namespace",
            namespace,
            "--kube-version",
            KUBERNETES,
            "--values",
            CI / f"{values}-values.yaml",
        )
        argv: tuple[str | Path, ...] = (helm_path, "template", "yard", CHART, *chosen, *flags)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RefusedError(done.stderr)
        return done.stdout

    return run


@pytest.fixture
def render(template: Callable[..., str]) -> Render:
    """The objects that the chart gives."""

    def run(*flags: str, values: str = "minimal", namespace: str = "ops") -> list[dict[str, Any]]:
        text = template(*flags, values=values, namespace=namespace)
        return [found for found in yaml.safe_load_all(text) if found]

    return run


@pytest.fixture
def one(render: Render) -> Callable[..., dict[str, Any]]:
    """The one object of that kind, whose name ends so, that the chart gives."""

    def run(kind: str, *flags: str, values: str = "minimal", name: str = "") -> dict[str, Any]:
        found = [
            thing
            for thing in render(*flags, values=values)
            if thing["kind"] == kind and thing["metadata"]["name"].endswith(name)
        ]
        assert len(found) == 1, f"{len(found)} of kind {kind}"
        return found[0]

    return run
