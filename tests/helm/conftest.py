"""Rendering of the chart, for the tests of this folder."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helm.generate import CHART
from tests.real.parts.layout import KUBERNETES
from tests.support.quick_yaml import all_from_yaml

CI = CHART / "ci"
Render = Callable[..., list[dict[str, Any]]]


class RefusedError(Exception):
    """Helm refused to render the chart; the text is its error."""


@pytest.fixture
def template(helm_path: Path) -> Callable[..., str]:
    """Run `helm template` with a values file of ci/ and more flags. Raises RefusedError."""

    def run(*flags: str, values: str = "minimal", namespace: str = "ops", release: str = "yard") -> str:
        options = (
            "--namespace",
            namespace,
            "--kube-version",
            KUBERNETES,
            "--values",
            CI / f"{values}-values.yaml",
        )
        argv: tuple[str | Path, ...] = (helm_path, "template", release, CHART, *options, *flags)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RefusedError(done.stderr)
        return done.stdout

    return run


@pytest.fixture
def render(template: Callable[..., str]) -> Render:
    """The objects that the chart renders."""

    def run(*flags: str, values: str = "minimal", namespace: str = "ops") -> list[dict[str, Any]]:
        text = template(*flags, values=values, namespace=namespace)
        return [thing for thing in all_from_yaml(text) if thing]

    return run


@pytest.fixture
def one(render: Render) -> Callable[..., dict[str, Any]]:
    """The only rendered object of a kind whose name has that suffix."""

    def run(kind: str, *flags: str, values: str = "minimal", name: str = "") -> dict[str, Any]:
        found = [
            thing
            for thing in render(*flags, values=values)
            if thing["kind"] == kind and thing["metadata"]["name"].endswith(name)
        ]
        assert len(found) == 1, f"{len(found)} of kind {kind}"
        return found[0]

    return run
