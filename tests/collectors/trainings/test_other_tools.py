"""Marks by which it is known what else manages a training."""

from typing import Any

import pytest

from collectors.cluster.objects import ObjectMeta
from collectors.trainings.other_tools import tool_of, what_it_does


@pytest.mark.parametrize(
    ("labels", "annotations", "tool", "does"),
    [
        ({}, {"meta.helm.sh/release-name": "bert"}, "Helm (bert)", "the next helm upgrade"),
        ({"app.kubernetes.io/managed-by": "Helm"}, {}, "Helm", "the next helm upgrade"),
        (
            {"app.kubernetes.io/managed-by": "Helm"},
            {"argocd.argoproj.io/tracking-id": "train:batch/Job:vision/bert"},
            "Argo CD (train)",
            "with automatic sync",
        ),
        ({"argocd.argoproj.io/instance": "train"}, {}, "Argo CD (train)", "with automatic sync"),
        ({"kustomize.toolkit.fluxcd.io/name": "apps"}, {}, "Flux (apps)", "at its next reconciliation"),
        (
            {"helm.toolkit.fluxcd.io/name": "bert"},
            {"meta.helm.sh/release-name": "bert"},
            "Flux (bert)",
            "at its next reconciliation",
        ),
        ({"pipeline/runid": "r-1"}, {}, "Kubeflow Pipelines (r-1)", "Terminate the run"),
        ({"app.kubernetes.io/managed-by": "yardmaster"}, {}, "", ""),
        ({"app.kubernetes.io/instance": "bert"}, {}, "", ""),
    ],
)
def test_a_tool_is_known_by_its_marks_and_the_one_that_acts_is_named(
    labels: dict[str, str], annotations: dict[str, Any], tool: str, does: str
) -> None:
    found = tool_of(ObjectMeta(name="bert", labels=labels, annotations=annotations))
    assert found == tool
    if tool:
        assert does in what_it_does(found).replace("`", "")


def test_the_name_that_a_tool_gives_is_one_line() -> None:
    found = tool_of(ObjectMeta(name="x", annotations={"meta.helm.sh/release-name": "a\nb"}))
    assert "\n" not in found
