"""Statements of the docs about kube-prometheus-stack and about symptoms, compared with the program."""

import re
import subprocess
from pathlib import Path

import pytest

from alerts.loading import load
from bot.evaluation.rulebook import symbols
from docs.generate import DOCS
from docs.neighbours import KUBE_PROMETHEUS, twice
from tests.docs.conftest import ROOT, Page
from tests.recorded.table import EPISODES
from tests.support.gpu_dialects import HONOURED, TEN, GpuNode
from tests.support.quick_yaml import from_yaml

OBJECTS = ROOT.parent / "shared/data/rules/good"
PAGE = DOCS / "kube-prometheus-stack.md"


def example(name: str) -> str:
    """Return the example of the page that begins with this comment."""
    page = Page(path=PAGE, text=PAGE.read_text(encoding="utf-8"))
    (block,) = [one for one in page.blocks("yaml") if one.startswith(f"# {name}")]
    return block


def test_the_values_of_dcgm_exporter_give_the_labels_of_a_dialect_whose_faults_are_played() -> None:
    """The operator adds the labels of the target, and a series keeps its own only where they are honoured."""
    values = from_yaml(example("dcgm-exporter"))
    monitor = values["serviceMonitor"]
    names_pods = {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"} in values["extraEnv"]
    is_honoured = monitor["enabled"] and monitor["honorLabels"]
    of_page = GpuNode(
        name="gpu-std",
        number=1,
        named={"Hostname": "gpu-std"},
        pod_labels=HONOURED if names_pods and is_honoured else (),
        is_honoured=is_honoured,
    )
    assert of_page in TEN
    assert {f"{fault}, kube-prometheus" for fault in ("hot", "xid", "gone", "idle")} <= set(EPISODES)


def test_alertmanager_sends_nothing_of_what_is_there_twice(tmp_path: Path, amtool_path: Path) -> None:
    file = tmp_path / "alertmanager.yml"
    file.write_text(example("alertmanager"))
    names = from_yaml(KUBE_PROMETHEUS.read_text(encoding="utf-8"))

    def receiver(name: str) -> str:
        argv = (amtool_path, "config", "routes", "test", f"--config.file={file}", f"alertname={name}")
        return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True).stdout.strip()

    assert {receiver(name) for name in twice()} == {"null"}
    assert {receiver(name) for name in ("Watchdog", "PrometheusBadConfig", "KubeQuotaExceeded")} == {
        "default"
    }
    assert set(twice()) < set(names)


def test_the_names_are_those_of_the_operators_own_objects() -> None:
    if not OBJECTS.is_dir():
        pytest.skip("the rules of kube-prometheus are not here")
    found: set[str] = set()
    for file in (*OBJECTS.glob("kube-prometheus/*.yaml"), *OBJECTS.glob("crd/*.yaml")):
        loaded = load(file.read_bytes(), file=file.name, symbols=symbols(), own=False)
        assert loaded.diagnostics == ()
        found |= {rule.name for group in loaded.groups for rule in group.rules}
    assert sorted(found) == from_yaml(KUBE_PROMETHEUS.read_text(encoding="utf-8"))


def test_the_words_of_each_symptom_are_the_programs_own() -> None:
    text = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    said = {
        piece
        for words in re.findall(r'"([^"\n]+)"', text)
        for piece in re.split("…|sre", words)
        if piece.strip()
    }
    program = "".join(
        path.read_text(encoding="utf-8")
        for package in ("collectors", "alerts", "commands", "bot")
        for path in (ROOT / package).rglob("*.py")
    )
    assert said
    assert sorted(piece for piece in said if piece.strip() not in program) == []
