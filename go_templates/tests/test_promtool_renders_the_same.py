"""The real promtool renders the table of templates to the same texts."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from go_templates.tests.rendered import LABELS, RENDERED, VALUE

pytestmark = pytest.mark.real


@pytest.fixture
def promtool() -> str:
    """The path of promtool. Without one the test is skipped, and fails in CI."""
    found = shutil.which("promtool")
    if found is None:
        reason = "promtool is not installed: on Debian, apt-get install prometheus"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def test_promtool_renders_every_template_to_the_same_text(promtool: str, tmp_path: Path) -> None:
    annotations = {f"t{number}": template for number, template in enumerate(RENDERED)}
    rules = {
        "groups": [{"name": "g", "rules": [{"alert": "A", "expr": "seen + 0", "annotations": annotations}]}],
    }
    expected = {f"t{number}": text for number, text in enumerate(RENDERED.values())}
    pairs = ",".join(f"{name}={json.dumps(value)}" for name, value in LABELS.items())
    tests = {
        "rule_files": ["rules.yml"],
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": f"seen{{{pairs}}}", "values": f"{VALUE} {VALUE}"}],
                "alert_rule_test": [
                    {
                        "eval_time": "1m",
                        "alertname": "A",
                        "exp_alerts": [{"exp_labels": LABELS, "exp_annotations": expected}],
                    }
                ],
            }
        ],
    }
    (tmp_path / "rules.yml").write_text(json.dumps(rules))
    (tmp_path / "tests.yml").write_text(json.dumps(tests))

    done = subprocess.run(
        [promtool, "test", "rules", "tests.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
