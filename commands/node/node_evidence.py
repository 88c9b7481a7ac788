"""`node evidence`: what is known of a node now, as one file that is kept. A source that is blind is named."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from alerts.cards.message import Attachment, Context, Message
from alerts.cards.text import bold, text
from alerts.incidents.incident import Incident
from alerts.store import StoreSnapshot
from collectors.cluster.objects import Event, Node
from collectors.facts.one_line import SENTENCE, one_line
from collectors.facts.queries import PromQLQuery
from collectors.facts.redaction import redacted
from collectors.facts.results import Blind, SourceError
from collectors.facts.sentences import counted, said_by, sentence
from commands.core.command import Answer, Command
from commands.core.context import Cluster, CommandContext
from commands.core.lookups import node_named
from commands.core.parameter_types import PLAN
from commands.core.parameters import NODE_ARGUMENT, option
from commands.execution.object_refs import ObjectRef
from commands.models import CordonLease, NodeEvidence

WITHIN = 3.0  # seconds for each source: a plan waits for the slowest
EVENTS, LOG_LINES, LOG_READ, PODS, INCIDENTS = 40, 80, 400, 60, 10
LONGEST = 128 << 10  # characters of the file
LOOKS_BACK = timedelta(hours=6)  # in the log store
_TROUBLE = re.compile(
    r"error|fail|xid|nvrm|panic|oops|hung|blocked for|i/o|timed? ?out|corrupt|bug:|ecc|pleg|evict|oom",
    re.IGNORECASE,
)
_GPU_SERIES = (
    "DCGM_FI_DEV_XID_ERRORS|DCGM_FI_DEV_GPU_TEMP|DCGM_FI_DEV_POWER_USAGE|DCGM_FI_DEV_FB_USED|DCGM_FI_DEV_GPU_UTIL"
    "|DCGM_FI_DEV_ECC_DBE_VOL_TOTAL|DCGM_FI_DEV_ROW_REMAP_FAILURE|DCGM_FI_DEV_ROW_REMAP_PENDING"
)
_NODE_LABELS = ("Hostname", "node", "kubernetes_node", "exported_node", "nodename")


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeEvidence:
    node: str
    plan: str


async def evidence_of(node: str, cluster: Cluster, rows: StoreSnapshot, now: datetime) -> str:
    """Return the file. It takes at most a few seconds, and what cannot be seen is said in its part."""
    parts: Sequence[tuple[str, Callable[[], Awaitable[list[str]]]]] = (
        ("Node", lambda: _node(node, cluster)),
        ("Events", lambda: _events(node, cluster)),
        ("Errors of the kernel, the kubelet and the runtime", lambda: _lines(node, cluster, now)),
        ("GPUs", lambda: _gpus(node, cluster, now)),
        ("Pods", lambda: _pods(node, cluster)),
        ("Lease and incidents", lambda: _history(node, cluster, rows)),
    )
    found = await asyncio.gather(*(_bounded(ask) for _, ask in parts))
    lines = [f"# {node} in {cluster.name}, {now:%Y-%m-%d %H:%M:%S} UTC", ""]
    for (heading, _), said in zip(parts, found, strict=True):
        lines += [f"## {heading}", "", *(said or ["nothing"]), ""]
    whole = redacted("\n".join(lines))
    return whole if len(whole) <= LONGEST else whole[: LONGEST - 2] + "…\n"


async def _bounded(ask: Callable[[], Awaitable[list[str]]]) -> list[str]:
    """Return the lines of one part, or why it is not known."""
    try:
        async with asyncio.timeout(WITHIN):
            return await ask()
    except TimeoutError:
        return [str(sentence("not known: no answer within {limit:.0f} s", limit=WITHIN))]
    except SourceError as error:
        return [str(sentence("not known: {error}", error=said_by(error)))]


async def _node(name: str, cluster: Cluster) -> list[str]:
    node = cluster.inventory().nodes.get(name)
    if node is None:
        return [str(sentence("{node} is not in the cluster", node=name))]
    return _of_node(node)


def _of_node(node: Node) -> list[str]:
    spec, info = node.spec, node.status.node_info
    lines = [
        f"uid {node.metadata.uid}, boot id {_line(info.boot_id)}",
        f"unschedulable: {spec.unschedulable}",
    ]
    lines += [f"taint {_line(one.key)}={_line(one.value)}:{_line(one.effect)}" for one in spec.taints or ()]
    lines += [
        f"{_line(one.type)}={_line(one.status)} ({_line(one.reason)}): {_line(one.message)}"
        for one in node.status.conditions or ()
    ]
    amounts = node.status.capacity or {}
    free = node.status.allocatable or {}
    lines += [
        f"{_line(name)}: {amount}, allocatable {free.get(name, '0')}"
        for name, amount in sorted(amounts.items())
    ]
    return lines


async def _events(name: str, cluster: Cluster) -> list[str]:
    if cluster.reader is None:
        raise SourceError(sentence("the settings give no access to Kubernetes for this cluster"))
    fields = f"involvedObject.kind=Node,involvedObject.name={name}"
    found = await cluster.reader.listing(ObjectRef(api="v1", kind="Event", name=""), fields=fields)
    events = sorted((msgspec.convert(one, Event) for one in found), key=lambda one: str(one.last_seen))
    return [f"{one.last_seen} {_line(one.reason)}: {_line(one.message)}" for one in events[-EVENTS:]]


async def _lines(name: str, cluster: Cluster, now: datetime) -> list[str]:
    if cluster.logs is None:
        raise SourceError(sentence("the settings name no log store"))
    found = await cluster.logs.lines(where={"node": name}, at=now, since=now - LOOKS_BACK, tail=LOG_READ)
    of_host = [one for one in found if _TROUBLE.search(one.text)]
    return [f"{one.at:%m-%d %H:%M:%S} {_line(one.text)}" for one in of_host[-LOG_LINES:]]


async def _gpus(name: str, cluster: Cluster, now: datetime) -> list[str]:
    value = name.replace("\\", "\\\\").replace('"', '\\"')
    selectors = (f'{{__name__=~"{_GPU_SERIES}",{label}="{value}"}}' for label in _NODE_LABELS)
    found = await cluster.query(PromQLQuery(expr=" or ".join(selectors)), at=now)
    if isinstance(found, Blind):
        raise SourceError(found.reason)
    lines = []
    for sample in found.samples:
        labels = dict(sample.labels)
        gpu = labels.get("gpu") or labels.get("UUID") or "?"
        lines.append(f"GPU {_line(gpu)} {_line(labels.get('__name__', ''))}: {sample.value:g}")
    counts = cluster.inventory().gpus_on(name)
    return [*([f"{counts}"] if counts is not None else []), *sorted(lines)]


async def _pods(name: str, cluster: Cluster) -> list[str]:
    topology, inventory = cluster.topology(), cluster.inventory()
    facts = {(one.namespace, one.name): one for one in topology.pods_on.get(name, ())}
    lines = []
    for pod in sorted(inventory.pods_on(name), key=lambda one: (one.metadata.namespace, one.metadata.name)):
        meta = pod.metadata
        fact = facts.get((meta.namespace, meta.name))
        user = topology.user(fact.training or fact.workload) if fact is not None else None
        gpus = inventory.gpus_held(pod)
        parts = [f"{meta.namespace}/{meta.name}", pod.status.phase, f"{gpus:g} GPUs" if gpus else ""]
        parts += [f"of {_line(user.owner)}" if user is not None and user.owner else ""]
        lines.append(", ".join(filter(None, parts)))
    return lines[:PODS]


async def _history(name: str, cluster: Cluster, rows: StoreSnapshot) -> list[str]:
    lease = await rows.rows(CordonLease).get(f"{cluster.name}/{name}")
    lines = []
    if lease is not None:
        lines.append(
            f"cordoned by {_line(lease.owner_name)} since {lease.since:%Y-%m-%d %H:%M} until "
            f"{lease.until or 'no end'}: {_line(lease.reason)}"
        )
    found = await rows.rows(Incident).find(
        cluster=cluster.name, group_key=f"node/{name}", newest=True, limit=INCIDENTS
    )
    lines += [
        f"{one.id} {one.began_at:%Y-%m-%d %H:%M} {one.state}: {_line(one.lead.summary)}" for one in found
    ]
    return lines


def _line(text: object) -> str:
    return one_line(str(text), SENTENCE)


async def show_evidence(action: TakeEvidence, context: CommandContext) -> Answer:
    """Take it now and keep it, or show what was kept of a plan."""
    name = action.node
    if action.plan:
        return await _kept(action, context)
    node_named(name, context.cluster.inventory())
    async with context.store.read() as snapshot:
        content = await evidence_of(name, context.cluster, snapshot, context.now)
        newest = await snapshot.rows(Incident).find(
            cluster=context.cluster.name, group_key=f"node/{name}", newest=True, limit=1
        )
    about = next((one.id for one in newest if one.is_open), "")
    row = NodeEvidence(
        id=f"{context.cluster.name}/{name}/{context.now:%Y%m%dT%H%M%S}",
        cluster=context.cluster.name,
        node=name,
        incident=context.origin.incident or about,
        at=context.now,
        text=content,
    )
    async with context.store.unit() as unit:
        await unit.rows(NodeEvidence).put(row)
    return answer_of(row)


async def _kept(action: TakeEvidence, context: CommandContext) -> Answer:
    async with context.store.read() as snapshot:
        found = await snapshot.rows(NodeEvidence).find(cluster=context.cluster.name, plan=action.plan)
    rows = [one for one in found if one.node == action.node]
    if not rows:
        said = sentence(
            "No evidence of {node} is kept for plan `{plan}`.", node=action.node, plan=action.plan
        )
        return Answer(message=Message(title=text(said)))
    return answer_of(rows[-1])


def answer_of(row: NodeEvidence) -> Answer:
    """Return the file, and whether every source answered."""
    unknown = row.text.count("not known:")
    title = sentence(
        "{evidence} of {node} ({at})", evidence=bold(sentence("Evidence")), node=row.node, at=row.at
    )
    contents = sentence(
        "In the file: the node's conditions and events, host errors, GPU figures, pods, lease and incidents."
    )
    whole = (
        sentence("Every source answered; the file is kept with the incident.")
        if row.incident
        else sentence("Every source answered; the file is kept.")
    )
    said = (
        whole
        if not unknown
        else counted(
            "{count} part is missing; the file says why.",
            "{count} parts are missing; the file says why.",
            count=unknown,
        )
    )
    name = f"{one_line(row.node, 80)}-{row.at:%Y%m%dT%H%M%S}.md"
    return Answer(
        message=Message(
            title=text(title),
            blocks=(Context(text=text(contents, " ", said)),),
            attachments=(Attachment(name=name, content=row.text),),
        ),
        is_public=True,
    )


EVIDENCE = Command(
    noun="node",
    verb="evidence",
    summary="Collect what is known of a node into one file, and keep it.",
    action=TakeEvidence,
    parameters=(
        NODE_ARGUMENT,
        option("--plan", type=PLAN, help="what was kept before this plan began"),
    ),
    record=show_evidence,
    example="node evidence gpu-a04",
    details=sentence(
        "Events, conditions, the last errors of the host's logs, GPU figures, pods with their owners, lease and "
        "incidents; without secrets. It is also taken before the first step of each plan on a node, and kept with it."
    ),
)
