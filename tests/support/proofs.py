"""A rule whose incidents need a proof, and the states of its node, one letter each."""

from dataclasses import replace

from alerts.rules import ResolveWhen, Rule
from collectors.facts.queries import PromQLQuery
from collectors.facts.topology import NodeFacts, Topology
from tests.support.alerting import a_rule, a_topology

NODES = {
    "8": NodeFacts(name="gpu-a01", gpus=8, is_ready=True, boot_id="a"),
    "7": NodeFacts(name="gpu-a01", gpus=8, gpus_out=1, is_ready=True, boot_id="a"),
    "b": NodeFacts(name="gpu-a01", gpus=8, is_ready=True, boot_id="b"),
    "x": NodeFacts(name="gpu-a01", gpus=7, is_ready=True, boot_id="b"),
    "n": NodeFacts(name="gpu-a01", gpus=8, is_ready=False, boot_id="b"),
    "?": NodeFacts(name="gpu-a01", gpus=8, is_ready=True, boot_id="a"),
    "¿": NodeFacts(name="gpu-a01", gpus=8, is_ready=True, boot_id="b"),
}


def a_rule_with(proof: str, *, query: str = "", severity: str = "critical") -> Rule:
    plain = a_rule("Fault", expr="fault", severity=severity)
    template = replace(
        plain.template,
        annotations={**plain.template.annotations, "proof": proof},
        resolve_when=ResolveWhen.PROVEN,
        proof_query=PromQLQuery(expr=query) if query else None,
    )
    return replace(plain, template=template)


def topology_of(letter: str) -> Topology:
    known = a_topology()
    others = {name: node for name, node in known.nodes.items() if name != "gpu-a01"}
    return replace(known, nodes=others if letter == "-" else {**others, "gpu-a01": NODES[letter]})
