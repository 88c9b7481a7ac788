"""The installer of the real parts: what is missing, and how to get it."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from demo.parts.processes import MissingPartError
from tests.real.fixtures import present_or_skip
from tests.real.parts import layout
from tests.real.parts.controllers import CONTROLLERS, Controller
from tests.real.parts.needs import NeedError, check_go, check_maven, java_home

_INSTALL = Path(layout.__file__).with_name("install.py")


@pytest.fixture
def only_these_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that leaves on the PATH only programs that print the given texts."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    def put(**outputs: str) -> None:
        for name, output in outputs.items():
            program = folder / name
            program.write_text(f"#!/bin/sh\necho '{output}' >&2\n", "utf-8")
            program.chmod(0o755)

    return put


@pytest.mark.parametrize(
    ("check", "programs", "message"),
    [
        pytest.param(check_go, {}, "Go is missing .*go.dev/dl", id="no Go"),
        pytest.param(
            check_go, {"go": "go version go1.19.8 linux/amd64"}, "Go is too old: go1.19", id="an old Go"
        ),
        pytest.param(check_maven, {}, "Maven is missing .*apt-get install maven", id="no Maven"),
        pytest.param(java_home, {}, "Java is missing.*openjdk-17", id="no Java"),
        pytest.param(java_home, {"java": 'openjdk version "11.0.2"'}, "too old: .* is 11", id="an old Java"),
        pytest.param(
            java_home, {"java": 'java version "1.8.0_45"'}, "too old: .* is 8", id="a very old Java"
        ),
    ],
)
def test_a_missing_or_old_tool_is_named_with_what_to_install(
    check: Callable[[], object],
    programs: dict[str, str],
    message: str,
    only_these_programs: Callable[..., None],
) -> None:
    only_these_programs(**programs)
    with pytest.raises(NeedError, match=message):
        check()


def test_tools_that_are_new_enough_pass(only_these_programs: Callable[..., None], tmp_path: Path) -> None:
    only_these_programs(
        go="go version go1.26.0 linux/amd64", mvn="", java='openjdk version "21.0.1" 2023-10-17'
    )
    check_go()
    check_maven()
    assert java_home() == tmp_path


def test_check_lists_the_parts_that_are_not_in_the_cache(tmp_path: Path) -> None:
    done = subprocess.run(
        (sys.executable, _INSTALL, "--check", "--only", "helm", "--only", "elasticsearch"),
        env={**os.environ, "YARDMASTER_PARTS": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert f"helm: missing {tmp_path}/helm-{layout.HELM}/helm" in done.stdout
    assert f"elasticsearch: missing {tmp_path}/elasticsearch-{layout.ELASTICSEARCH}" in done.stdout
    assert "kube" not in done.stdout.replace("kubeconform", "")


def test_etcd_and_the_api_server_come_from_the_assets_of_envtest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in layout.FROM_ASSETS:
        (tmp_path / name).touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert layout.kube_program("etcd") == tmp_path / "etcd"
    assert layout.kube_program("kube-scheduler").parent == layout.kube_folder() != tmp_path
    assert layout.kube_commands() == ("kube-controller-manager", "kube-scheduler", "kubectl")


def test_an_assets_folder_without_programs_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="which has no etcd and no kube-apiserver"):
        layout.kube_commands()


def test_the_kubernetes_version_is_that_of_the_go_module() -> None:
    module = (layout.KUBE_MODULE / "go.mod").read_text("utf-8")
    assert f"k8s.io/kubernetes v{layout.KUBERNETES}\n" in module


@pytest.mark.parametrize("controller", CONTROLLERS, ids=[one.part for one in CONTROLLERS])
def test_the_version_of_a_controller_is_that_of_its_go_module(controller: Controller) -> None:
    module = (controller.module / "go.mod").read_text("utf-8")
    assert re.search(rf"\b{re.escape(f'{controller.source} v{controller.version}')}\b", module)


@pytest.mark.parametrize(
    ("ci", "outcome"),
    [
        pytest.param("", pytest.skip.Exception, id="skips on a developer's machine"),
        pytest.param("true", pytest.fail.Exception, id="fails in continuous integration"),
    ],
)
def test_a_missing_part(ci: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def find() -> Path:
        raise MissingPartError("no amtool on the PATH; run `make parts`")

    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="a real part is missing: no amtool on the PATH; run `make parts`"):
        present_or_skip(find)


def test_a_test_that_uses_a_part_through_another_fixture_is_marked(
    a_rule_checker: Path, request: pytest.FixtureRequest
) -> None:
    assert a_rule_checker.name == "promtool"
    assert request.node.get_closest_marker("real") is not None


@pytest.fixture
def a_rule_checker(promtool_path: Path) -> Path:
    """A real part behind another fixture."""
    return promtool_path
