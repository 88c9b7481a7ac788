"""`$labels` in a rule's labels and annotations is the query's sample, as in Prometheus."""

import json
from pathlib import Path

from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from tests.support.alerting import a_renderer, a_rule
from tests.support.promtool import run_cases

SERIES = {"__name__": "heat", "node": "gpu-a01", "severity": "from the series", "alertname": "of the series"}
PRINTED = "{{ range $name, $value := $labels }}{{ $name }}={{ $value }};{{ end }}"
SEEN = "__name__=heat;alertname=of the series;node=gpu-a01;severity=from the series;"
RULE = a_rule("Hot", expr="heat", labels={"copy": PRINTED, "team": "vision"}, summary=PRINTED)
# As Prometheus: the alert's labels lack the metric's name, and the rule's win.
LABELS = {"node": "gpu-a01", "severity": "warning", "team": "vision", "copy": SEEN}


def test_templates_see_the_sample_with_its_metric_name_and_without_the_rules_labels() -> None:
    sample = Sample(labels=Labels(SERIES), value=91)
    assert a_renderer().labels(RULE, sample) == {**LABELS, "alertname": "Hot"}
    assert a_renderer().annotations(RULE, sample) == {"summary": SEEN}


def test_promtool_renders_the_same(promtool_path: Path, tmp_path: Path) -> None:
    template = RULE.template
    rule = {"alert": "Hot", "expr": "heat", "labels": template.labels, "annotations": template.annotations}
    pairs = ",".join(f"{name}={json.dumps(value)}" for name, value in SERIES.items() if name != "__name__")
    case = {
        "eval_time": "1m",
        "alertname": "Hot",
        "exp_alerts": [{"exp_labels": LABELS, "exp_annotations": {"summary": SEEN}}],
    }
    series = [{"series": f"heat{{{pairs}}}", "values": "91 91"}]
    suite = {
        "rule_files": ["rules.yml"],
        "tests": [{"interval": "1m", "input_series": series, "alert_rule_test": [case]}],
    }
    (tmp_path / "rules.yml").write_text(
        json.dumps({"groups": [{"name": "g", "rules": [rule]}]}, default=dict)
    )
    (tmp_path / "suite.yml").write_text(json.dumps(suite))

    done = run_cases(promtool_path, "suite.yml", folder=tmp_path)

    assert done.returncode == 0, done.stdout
