"""The annotations that say what resolves an incident: `resolve_when`, and `proof` with its details."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from alerts.loading.node_reader import NodeReader, did_you_mean
from alerts.loading.promql import find_error
from alerts.loading.yaml_nodes import YamlNode
from alerts.rules import Proof, ResolveWhen, Severity
from collectors.facts.queries import PromQLQuery

_TEMPLATE_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)

Entry = tuple[str, YamlNode]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolving:
    """What resolves the incidents of a rule's alerts. The proofs themselves are a template, and stay an annotation."""

    when: ResolveWhen = ResolveWhen.CLEARED
    proof_severity: Severity = Severity.WARNING
    proof_query: PromQLQuery | None = None


def read_resolving(reader: NodeReader, annotations: Mapping[str, Entry], before: str) -> Resolving:
    """Read these annotations. Each error names what belongs together."""
    when = _when(reader, annotations.get("resolve_when"), before)
    needs_proof = when is ResolveWhen.PROVEN or (when is None and "proof" in annotations)
    known = ", ".join(Proof)
    words = _words(annotations["proof"]) if "proof" in annotations else []
    if needs_proof and not words:
        node = annotations[("proof" if "proof" in annotations else "resolve_when")][1]
        reader.error(node, f"{before}proof: with `resolve_when: proven` it must be set, of {known}")
    for name in ("proof", "proof_expr", "proof_severity"):
        if name in annotations and not needs_proof:
            reader.error(annotations[name][1], f"{before}{name}: it is only used with `resolve_when: proven`")
    for word in words:
        if word not in list(Proof):
            near = did_you_mean(word, list(Proof))
            reader.error(annotations["proof"][1], f"{before}proof: `{word[:40]}` is not one of {known}{near}")
    query = _query(reader, annotations.get("proof_expr"), before)
    if Proof.METRIC in words and "proof_expr" not in annotations:
        reader.error(
            annotations["proof"][1], f"{before}proof: `metric` needs `proof_expr`, a PromQL expression"
        )
    if query is not None and needs_proof and Proof.METRIC not in words:
        reader.error(
            annotations["proof_expr"][1], f"{before}proof_expr: `proof` must name `metric`, or it is not used"
        )
    severity = _severity(reader, annotations.get("proof_severity"), before)
    return Resolving(when=when or ResolveWhen.CLEARED, proof_severity=severity, proof_query=query)


def _when(reader: NodeReader, entry: Entry | None, before: str) -> ResolveWhen | None:
    """Return None, and a diagnostic, for a word that is not known."""
    if entry is None:
        return ResolveWhen.CLEARED
    try:
        return ResolveWhen(entry[0].strip())
    except ValueError:
        known = ", ".join(kind.value for kind in ResolveWhen)
        reader.error(entry[1], f"{before}resolve_when: `{entry[0].strip()[:40]}` must be one of {known}")
        return None


def _severity(reader: NodeReader, entry: Entry | None, before: str) -> Severity:
    """Return the lowest severity that needs a proof. One of info is context for others, and keeps nothing open."""
    word = entry[0].strip() if entry is not None else Severity.WARNING.value
    if entry is not None and word not in ("critical", "warning"):
        reader.error(entry[1], f"{before}proof_severity: `{word[:40]}` must be critical or warning")
        return Severity.WARNING
    return Severity(word)


def _words(entry: Entry) -> list[str]:
    """Return the words outside of template actions: what the template may give."""
    return _TEMPLATE_ACTION.sub(" ", entry[0]).split()


def _query(reader: NodeReader, entry: Entry | None, before: str) -> PromQLQuery | None:
    if entry is None:
        return None
    text, node = entry
    if error := find_error(text):
        inner = f"{error.line}:{error.column}: " if error.line else ""
        reader.error(
            node, f"{before}proof_expr: could not parse expression: {inner}parse error: {error.what}"
        )
        return None
    return PromQLQuery(expr=text.strip())
