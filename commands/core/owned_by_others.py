"""Tools that manage an object: Helm, or one that sets it back to what a repository says. Pure."""

from collections.abc import Mapping
from typing import Any

from collectors.facts.one_line import one_line
from collectors.facts.sentences import sentence

_SHOWN = 80  # characters of a name
# Annotations and labels by which the tools mark what is theirs, as their projects document them.
_ARGO = ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance")
_FLUX = ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name")
_HELM = "meta.helm.sh/release-name"
_MANAGED_BY = "app.kubernetes.io/managed-by"


def managed_by(meta: Mapping[str, Any]) -> str:
    """Return what would set a change of the object back: with its own name of it; empty where nothing does."""
    marks = {**(meta.get("labels") or {}), **(meta.get("annotations") or {})}
    for key in _ARGO:
        if key in marks:
            name = one_line(str(marks[key]).partition(":")[0], _SHOWN)
            return sentence("Argo CD (application {name})", name=name)
    for key in _FLUX:
        if key in marks:
            return sentence("Flux ({name})", name=one_line(str(marks[key]), _SHOWN))
    if _HELM in marks:
        return sentence("Helm (release {name})", name=one_line(str(marks[_HELM]), _SHOWN))
    return "Helm" if marks.get(_MANAGED_BY) == "Helm" else ""
