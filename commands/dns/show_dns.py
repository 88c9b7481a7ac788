"""The answer of `dns show`: the replicas, what owns their number, the load, and what it requires."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan

from alerts.cards.message import Block, Button, Buttons, Context, Fields, Message
from alerts.cards.text import Text, bold, code, text
from alerts.incidents.wording import rounded
from collectors.cluster.inventory import Inventory
from collectors.dns.names import size_of
from collectors.facts.dns_load import by_names
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import QueryResult, Seen
from collectors.facts.sentences import Sentence, counted, sentence
from commands.core.command import Answer
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.dns.askers import askers
from commands.dns.owner import (
    BrokenOwner,
    Dns,
    HpaOwner,
    NoOwner,
    Owner,
    ProportionalOwner,
    find_dns,
    find_owner,
    recommended,
    requirement,
)
from go_templates import humanize_duration, humanize_percentage

_CLUSTER = 'server!~"[a-z]+://[^:].*"'  # as in the rules: NodeLocal DNSCache listens on addresses

_FAILED, _LATENCY = "SERVFAIL", "99th percentile"
# In the units and with the digits of the alerts about them, so that a card and this answer agree.
_MEASURES: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("queries", f"sum(rate(coredns_dns_requests_total{{{_CLUSTER}}}[2m]))", "{:.0f}/s".format),
    (
        _FAILED,
        f'(sum(rate(coredns_dns_responses_total{{{_CLUSTER}, rcode="SERVFAIL"}}[2m])) or vector(0)) '
        f"/ sum(rate(coredns_dns_responses_total{{{_CLUSTER}}}[2m]))",
        humanize_percentage,
    ),
    (
        "NXDOMAIN",
        f'(sum(rate(coredns_dns_responses_total{{{_CLUSTER}, rcode="NXDOMAIN"}}[2m])) or vector(0)) '
        f"/ sum(rate(coredns_dns_responses_total{{{_CLUSTER}}}[2m]))",
        humanize_percentage,
    ),
    (
        _LATENCY,
        "histogram_quantile(0.99, sum by (le) "
        f"(rate(coredns_dns_request_duration_seconds_bucket{{{_CLUSTER}}}[2m])))",
        humanize_duration,
    ),
)


# As in the rule CoreDNSReplicaSlow: one that is slow alone is said, as more replicas do not help.
_BY_REPLICA = (
    "histogram_quantile(0.99, sum by (le, namespace, pod, instance) "
    f"(rate(coredns_dns_request_duration_seconds_bucket{{{_CLUSTER}}}[2m])))"
)
_SLOW = 0.1  # seconds
_MANY = 0.01  # of the answers, as in the rule CoreDNSErrorsHigh
_TIMES = 4  # as long as the fastest


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowDns:
    pass


async def show(action: ShowDns, context: CommandContext) -> Answer:
    """Return the replicas, what owns their number, the load, and a recommended replica count."""
    dns = find_dns(context)
    inventory = context.cluster.inventory()
    owner = await find_owner(dns, inventory, reader_of(context))
    rows: list[tuple[str, Text]] = [
        ("deployment", text(code(f"{dns.ref.namespace}/{dns.ref.name}"))),
        ("replicas", text(sentence("{ready} ready of {wanted}", ready=dns.ready, wanted=dns.wanted))),
        ("owned by", _owned_by(owner)),
    ]
    load = await _load(context)
    rows += _load_rows(load)
    rows += await _slow_replica(context)
    rows.append(("asked by", await askers(context)))
    wanted = recommended(dns, owner, inventory)
    rows += _requirements(owner, inventory)
    blocks: list[Block] = [Fields(rows=tuple(rows))]
    least = requirement(owner, inventory)
    if least is not None and least <= dns.wanted <= dns.ready and _is_fast(load):
        blocks.append(Context(text=text(_enough(dns, least))))
    elif context.may.get("dns scale", False) and not isinstance(owner, BrokenOwner):
        label = sentence("Scale to {wanted}", wanted=wanted)
        why = sentence(
            "{wanted}: half as many again as now, or what nodes and names require if that is more.",
            wanted=wanted,
        )
        blocks.append(Buttons(buttons=(Button(label=label, line=f"dns scale {wanted}"),)))
        blocks.append(Context(text=text(why)))
    return Answer(message=Message(title=text(bold("Cluster DNS")), blocks=tuple(blocks)))


def _requirements(owner: Owner, inventory: Inventory) -> list[tuple[str, Text]]:
    """Return what nodes and names require where an autoscaler says how many of them a replica serves."""
    if not isinstance(owner, ProportionalOwner):
        return []
    linear, autoscaler = owner.linear, owner.autoscaler
    size = size_of(inventory, autoscaler)
    by_size = linear.unbounded(nodes=size.nodes, cores=size.cores)
    known, _ = autoscaler.count(inventory.nodes.values(), linear)
    nodes = counted("{count} node", "{count} nodes", count=size.nodes)
    for_nodes = counted(
        "{count} replica for {size}", "{count} replicas for {size}", count=by_size, size=nodes
    )
    if known < size.nodes:
        for_nodes = counted(
            "{count} replica for {size}, of which the autoscaler counts {known}",
            "{count} replicas for {size}, of which the autoscaler counts {known}",
            count=by_size,
            size=nodes,
            known=known,
        )
    names = counted("{count} name", "{count} names", count=size.names)
    return [
        ("nodes require", text(for_nodes)),
        (
            "names require",
            text(
                counted(
                    "{count} replica for {size}",
                    "{count} replicas for {size}",
                    count=by_names(linear, size.names),
                    size=names,
                )
            ),
        ),
    ]


def _owned_by(owner: Owner) -> Text:
    match owner:
        case ProportionalOwner():
            linear = owner.linear
            limits = (
                sentence("min {min}, max {max}", min=linear.min, max=linear.max)
                if linear.max
                else sentence("min {min}", min=linear.min)
            )
            if linear.nodes_per_replica:
                limits = counted(
                    "{limits}, one replica for {count:g} node",
                    "{limits}, one replica for {count:g} nodes",
                    limits=limits,
                    count=linear.nodes_per_replica,
                )
            return text(code(str(owner.config)), " ", limits)
        case BrokenOwner():
            return text(owner.problem)
        case HpaOwner():
            return text(
                code(str(owner.ref)), " ", sentence("min {min}, max {max}", min=owner.min, max=owner.max)
            )
        case NoOwner():
            return text(
                sentence("no autoscaler; managed by {manager}", manager=owner.managed_by)
                if owner.managed_by
                else "no autoscaler"
            )


# Its name, what was measured, and how it is written.
_Measure = tuple[str, QueryResult, Callable[[float], str]]


async def _load(context: CommandContext) -> list[_Measure]:
    return [
        (name, await context.cluster.query(PromQLQuery(expr=query), at=context.now), form)
        for name, query, form in _MEASURES
    ]


def _load_rows(load: Sequence[_Measure]) -> list[tuple[str, Text]]:
    """Return what is measured, or in one row why nothing is."""
    reasons = {seen.reason for _, seen, _ in load if not isinstance(seen, Seen)}
    if len(reasons) == 1 and not any(isinstance(seen, Seen) for _, seen, _ in load):
        return [("load", text(sentence("not known: {reason}", reason=reasons.pop())))]
    return [(name, _measured(seen, form)) for name, seen, form in load]


def _is_fast(load: Sequence[_Measure]) -> bool:
    """Return whether it is known that nearly all names are resolved, and soon."""
    known = {name: seen.samples[0].value for name, seen, _ in load if isinstance(seen, Seen) and seen.samples}
    return known.get(_FAILED, 1) < _MANY and known.get(_LATENCY, _SLOW) < _SLOW


def _enough(dns: Dns, least: int) -> Sentence:
    """Return that no more replicas are needed, where nothing says otherwise."""
    return counted(
        "{count} replica is enough: nodes and names require {least}, and names are resolved in time.",
        "{count} replicas are enough: nodes and names require {least}, and names are resolved in time.",
        count=dns.wanted,
        least=least,
    )


async def _slow_replica(context: CommandContext) -> list[tuple[str, Text]]:
    """Return the replica that is slow while another is not, with its node; nothing where there is none."""
    found = await context.cluster.query(PromQLQuery(expr=_BY_REPLICA, of_pack=True), at=context.now)
    taken = [one for one in found.samples if not isnan(one.value)] if isinstance(found, Seen) else []
    if not taken:
        return []
    slowest, fastest = (pick(taken, key=lambda one: one.value) for pick in (max, min))
    if slowest.value <= _SLOW or slowest.value <= _TIMES * fastest.value:
        return []
    name, node = _replica(slowest.labels, context.cluster.inventory())
    took, others = (rounded(humanize_duration(one.value)) for one in (slowest, fastest))
    said = sentence("{took}, and the fastest replica {others}", took=took, others=others)
    if node:
        said = sentence(
            "{took} on {node}, and the fastest replica {others}", took=took, node=node, others=others
        )
    return [("slow replica", text(code(name), " ", said))]


def _replica(labels: Labels, inventory: Inventory) -> tuple[str, str]:
    """Return the pod of a target, by its labels or its address, and its node, as far as they are known."""
    namespace, name = labels.get("namespace", ""), labels.get("pod", "")
    address = labels.get("instance", "").rpartition(":")[0].strip("[]")
    for pod in inventory.pods.values():
        meta = pod.metadata
        if (meta.namespace, meta.name) == (namespace, name) or (address and pod.status.pod_ip == address):
            return f"{meta.namespace}/{meta.name}", pod.spec.node_name
    return name or labels.get("instance", ""), ""


def _measured(seen: QueryResult, form: Callable[[float], str]) -> Text:
    if not isinstance(seen, Seen):
        return text(sentence("not known: {reason}", reason=seen.reason))
    if not seen.samples or isnan(seen.samples[0].value):  # no queries in the window
        return text("no samples")
    return text(rounded(form(seen.samples[0].value)))
