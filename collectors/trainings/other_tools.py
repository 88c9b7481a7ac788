"""Tools that manage the objects of a training, known by the marks that each leaves. Pure.

A tool that created an object may create it again, or change it back. Sources: the tools' own documentation of the
labels and annotations that they set.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from collectors.cluster.base import ObjectMeta
from collectors.facts.one_line import NAME, one_line
from collectors.facts.sentences import sentence

HELM, ARGO_CD, FLUX, PIPELINES = "Helm", "Argo CD", "Flux", "Kubeflow Pipelines"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherTool:
    """A tool, and what it calls that to which the object belongs."""

    name: str
    of: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.of})" if self.of else self.name


def other_tool(meta: ObjectMeta) -> OtherTool | None:
    """Return the tool that manages an object; None if no mark of one is known.

    A tool that applies a chart leaves its own marks beside Helm's: it is the one that acts.
    """
    labels, notes = meta.labels or {}, meta.annotations or {}
    if (tracked := notes.get("argocd.argoproj.io/tracking-id")) is not None:
        return _tool(ARGO_CD, tracked.partition(":")[0])
    if (app := labels.get("argocd.argoproj.io/instance")) is not None:
        return _tool(ARGO_CD, app)
    for kind in ("helm", "kustomize"):
        if (name := labels.get(f"{kind}.toolkit.fluxcd.io/name")) is not None:
            return _tool(FLUX, name)
    if (run := _pipeline(labels, notes)) is not None:
        return _tool(PIPELINES, run)
    if (release := notes.get("meta.helm.sh/release-name")) is not None:
        return _tool(HELM, release)
    if labels.get("app.kubernetes.io/managed-by") == HELM:
        return _tool(HELM, labels.get("app.kubernetes.io/instance", ""))
    return None


def tool_of(meta: ObjectMeta) -> str:
    """Return the tool as people read it; empty without one."""
    found = other_tool(meta)
    return str(found) if found is not None else ""


def what_it_does(tool: str) -> str:
    """Return what the tool will do about a stop or a change of ours. `tool` is what `tool_of` returned."""
    if tool.startswith(ARGO_CD):
        return sentence(
            "Argo CD manages it: with automatic sync it changes it back, or creates it again, within minutes. "
            "Change it in the application's repository, or pause its automatic sync."
        )
    if tool.startswith(FLUX):
        return sentence(
            "Flux manages it: at its next reconciliation it changes it back, or creates it again. Change it in "
            "its repository, or `flux suspend` it."
        )
    if tool.startswith(PIPELINES):
        return sentence(
            "A run of Kubeflow Pipelines created it: its step fails when it ends, and may be tried again with a "
            "new one. Terminate the run to stop it for good."
        )
    return sentence(
        "{tool} installed it: the next `helm upgrade` changes it back, or creates it again. `helm uninstall` ends "
        "it for good.",
        tool=tool,
    )


def _pipeline(labels: Mapping[str, str], notes: Mapping[str, str]) -> str | None:
    for key in ("pipeline/runid", "pipelines.kubeflow.org/run_id"):
        for source in (labels, notes):
            if (run := source.get(key)) is not None:
                return run
    return None


def _tool(name: str, of: str) -> OtherTool:
    return OtherTool(name=name, of=one_line(of, NAME))
