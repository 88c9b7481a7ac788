"""Signs of why a training failed: what a line of a rank, of its node, a pod's status or an event says. Pure.

Lines of nodes are judged by the shipped rules that search logs, so that a card and an incident say the same. What
ranks print is judged here: their own errors, and echoes of the end of another rank, as NCCL, Gloo, torchrun, MPI and
TensorFlow report them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from alerts.rules import Rule, Severity
from collectors.cluster.objects import Event
from collectors.facts.log_match import EVERY_LINE, matches_message
from collectors.facts.queries import LogQuery
from collectors.facts.xid_catalogue import recovery_of, xid_of
from collectors.trainings.training import Rank
from commands.core.pod_lines import TimedLine


class FailureKind(StrEnum):
    """What a training failed of."""

    GPU = "GPU"
    NODE = "node"
    MEMORY = "memory"
    USER = "user"  # its own program, or how it was called
    DNS = "DNS"
    NETWORK = "network"
    VOLUME = "volume"
    IMAGE = "image"
    PREEMPTION = "preemption"
    QUOTA = "quota"  # a task could not be created
    HANG = "hang"  # all wait for each other, and nothing else is known
    CHECKPOINT = "checkpoint"
    UNKNOWN = "not known"


class SignWeight(StrEnum):
    """How much a sign says of who failed first."""

    PROOF = "proof"  # from outside of the program: its node, its pod, the cluster
    OWN = "own"  # an error of the rank itself
    ECHO = "echo"  # of another rank


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Something that happened. `rank` or `node` say whom it concerns; without either it is about all ranks."""

    at: datetime
    kind: FailureKind
    weight: SignWeight
    line: str
    rank: str = ""
    node: str = ""
    is_status: bool = False  # of a pod: an event about the same says more


_OF_PACK = {
    "gpu": FailureKind.GPU,
    "gpu-hardware": FailureKind.GPU,
    "gpu-plumbing": FailureKind.GPU,
    "node": FailureKind.NODE,
    "network": FailureKind.NETWORK,
    "storage": FailureKind.VOLUME,
    "dns": FailureKind.DNS,
}
_OF_RULE = {  # whose pack says something else
    "NetworkCardHardwareLogged": FailureKind.NETWORK,
    "NCCLCrashLogged": FailureKind.USER,
    "CUDAOutOfMemory": FailureKind.MEMORY,
    "NodeOutOfMemoryLogged": FailureKind.MEMORY,
}
_CONSEQUENCES = ("NodeTasksHung", "NodeNetworkDeviceStuck", "VolumeStillMounted")  # of something before them
_XID = re.compile(r"NVRM: Xid \([^)]*\): (\d{1,4})")
_KILLED = re.compile(r"(?i)(?:memory cgroup )?out of memory: killed process|oom-kill:")
_ECHO = re.compile(
    r"(?i)watchdog caught collective|watchdog thread terminated|remote process exited|ncclRemoteError|"
    r"communicator was aborted|connection (?:reset|closed|refused|aborted)|closed by (?:remote )?peer|broken pipe|"
    r"socket closed|ChildFailedError|SignalException|\bSIGTERM\b|death signal|got signal: 15|"
    r"(?:timed out|timeout) .*waiting for clients|clients joined|RendezvousC|rendezvous.*(?:timeout|timed out|closed)|"
    r"DistBackendError|mpirun .*(?:noticed|detected)|MPI_ABORT|primary job +terminated|lost connection to|"
    r"terminate called after|failed to connect to (?:all|any)|peer .*(?:is gone|has exited)|"
    r"Timeout\(ms\)|CancelledError|barrier timed out|heartbeat.*(?:timeout|stuck)"
)
_OWN = (
    (
        re.compile(
            r"(?i)PytorchStreamReader failed|failed finding central directory|SafetensorError|bad magic number|"
            r"DataLossError|checkpoint\b.{0,80}\b(?:corrupt|truncated|damaged|incomplete)|"
            r"(?:corrupt|truncated|damaged|incomplete)\w*\b.{0,40}\bcheckpoint"
        ),
        FailureKind.CHECKPOINT,
    ),
    (
        re.compile(
            r"(?i)uncorrectable ECC|fallen off the bus|NVLink error|CUDA error: (?:unknown error|hardware)|"
            r"no CUDA-capable device|device is lost|cudaErrorDevicesUnavailable|Unable to determine the device handle"
        ),
        FailureKind.GPU,
    ),
    (
        re.compile(
            r"(?i)input/output error|stale file handle|no space left on device|read-only file system|"
            r"transport endpoint is not connected|disk quota exceeded|remote I/O error"
        ),
        FailureKind.VOLUME,
    ),
    (re.compile(r"(?i)exec format error"), FailureKind.IMAGE),  # built for other processors
    (
        re.compile(
            r"(?i)name or service not known|temporary failure in name resolution|no such host|"
            r"could not resolve|nodename nor servname|gaierror"
        ),
        FailureKind.DNS,
    ),
    (
        re.compile(r"(?i)out of memory|OutOfMemory|MemoryError|Cannot allocate memory|std::bad_alloc"),
        FailureKind.MEMORY,
    ),
    (
        re.compile(
            r"(?i)NET/IB .*(?:completion|error|fail)|no route to host|network is unreachable|ibv_\w+ .*fail|"
            r"NCCL WARN .*(?:unhandled system error|connect to .* failed)"
        ),
        FailureKind.NETWORK,
    ),
    (
        re.compile(r"^(?:\[?\w*rank ?\d+\]?:? *)?(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Exit)\b(?:: |$)"),
        FailureKind.USER,
    ),
    (
        re.compile(
            r"(?i)^(?:fatal|panic|error)\b ?[:(]|segmentation fault|command not found|unrecognized arguments|"
            r"can't open file|no module named|core dumped|assertion .*failed"
        ),
        FailureKind.USER,
    ),
)
_POD = {
    "OOMKilled": FailureKind.MEMORY,
    "PreemptionByScheduler": FailureKind.PREEMPTION,
    "Preempting": FailureKind.PREEMPTION,
    "DeletionByTaintManager": FailureKind.NODE,
    "DeletionByPodGC": FailureKind.NODE,
    "NodeLost": FailureKind.NODE,
    "NodeShutdown": FailureKind.NODE,
    "Shutdown": FailureKind.NODE,
    "Terminated": FailureKind.NODE,
    "TerminationByKubelet": FailureKind.NODE,
    "Evicted": FailureKind.NODE,
    "ContainerStatusUnknown": FailureKind.NODE,
    "UnexpectedAdmissionError": FailureKind.GPU,
    "ContainerCannotRun": FailureKind.USER,
    "StartError": FailureKind.USER,
    "CreateContainerConfigError": FailureKind.USER,
    "ImagePullBackOff": FailureKind.IMAGE,
    "ErrImagePull": FailureKind.IMAGE,
    "InvalidImageName": FailureKind.IMAGE,
    "ErrImageNeverPull": FailureKind.IMAGE,
}
_EVENTS = (
    (re.compile(r"NodeNotReady|NodeHasInsufficient.*|Rebooted|Shutdown"), re.compile(""), FailureKind.NODE),
    (re.compile(r"Failed(?:Mount|AttachVolume|MapVolume)"), re.compile(""), FailureKind.VOLUME),
    (
        re.compile(r"Failed|ErrImage.*|InspectFailed|BackOff"),
        re.compile(r"(?i)pull.*image|image"),
        FailureKind.IMAGE,
    ),
    (re.compile(r"FailedCreatePodSandBox|NetworkNotReady"), re.compile(""), FailureKind.NETWORK),
    (re.compile(r"FailedCreate.*"), re.compile(r"(?i)exceeded quota"), FailureKind.QUOTA),
    (re.compile(r".*"), re.compile(r"(?i)\bpreempted\b|preempting"), FailureKind.PREEMPTION),
)


# Where a file is read that ends too early. Which file that was, the lines before say.
_CUT_OFF = re.compile(
    r"EOFError: Ran out of input|UnpicklingError|BadZipFile|(?i:unexpected (?:EOF|end of file))"
)
_LOADING = re.compile(r"(?i)\b(?:load|restor|resum)\w*\b.{0,60}\b(?:checkpoint|ckpt|snapshot)")


def is_of_checkpoint(line: str, before: Iterable[str]) -> bool:
    """Whether an error says that a file was cut off, and one of the lines before it that a checkpoint was read."""
    return bool(_CUT_OFF.search(line)) and any(_LOADING.search(one) for one in before)


def sign_of_output(rank: str, line: TimedLine, rules: Mapping[str, Rule]) -> Sign | None:
    """Return what a line of a rank's own output says; None for one that says nothing."""
    text = line.text
    if _ECHO.search(text):
        return Sign(at=line.at, kind=FailureKind.NETWORK, weight=SignWeight.ECHO, line=text, rank=rank)
    kind = next((kind for pattern, kind in _OWN if pattern.search(text)), None)
    if kind in (None, FailureKind.USER):
        kind = _by_rules(text, rules, of_host=False) or kind
    return Sign(at=line.at, kind=kind, weight=SignWeight.OWN, line=text, rank=rank) if kind else None


def sign_of_host(node: str, line: TimedLine, rules: Mapping[str, Rule]) -> Sign | None:
    """Return what a line of a node's own log says. An XID that a program can cause is the program's."""
    text = line.text
    if found := _XID.search(text):
        number = int(found[1])
        is_broken = xid_of(number).is_hardware or recovery_of(number).empties_the_node
        if not is_broken:
            return None
        return Sign(at=line.at, kind=FailureKind.GPU, weight=SignWeight.PROOF, line=text, node=node)
    kind = FailureKind.MEMORY if _KILLED.search(text) else _by_rules(text, rules, of_host=True)
    return Sign(at=line.at, kind=kind, weight=SignWeight.PROOF, line=text, node=node) if kind else None


def sign_of_pod(rank: Rank, name: str) -> Sign | None:
    """Return what Kubernetes says of how a rank ended, or why it has not begun."""
    kind, at = _POD.get(rank.disruption), rank.disrupted
    if kind is None or at is None:
        kind, at = _POD.get(rank.reason), rank.finished or rank.started
    if kind is None or at is None:
        return None
    words = rank.words or rank.explanation or rank.reason
    return Sign(
        at=at, kind=kind, weight=SignWeight.PROOF, line=words, rank=name, node=rank.node, is_status=True
    )


def sign_of_event(event: Event, rank: str) -> Sign | None:
    """Return what an event says of a rank, of a node, or of the whole training."""
    at = event.last_seen
    if at is None:
        return None
    for reason, message, kind in _EVENTS:
        if reason.fullmatch(event.reason) and message.search(event.message):
            node = event.involved_object.name if event.involved_object.kind == "Node" else ""
            return Sign(at=at, kind=kind, weight=SignWeight.PROOF, line=event.message, rank=rank, node=node)
    return None


def _by_rules(text: str, rules: Mapping[str, Rule], *, of_host: bool) -> FailureKind | None:
    for rule in rules.values():
        query = rule.query
        if not isinstance(query, LogQuery) or query.of_host is not of_host or rule.name in _CONSEQUENCES:
            continue
        if rule.template.labels.get("severity") == Severity.INFO:  # healthy nodes write such lines, too
            continue
        kind = _OF_RULE.get(rule.name) or _OF_PACK.get(rule.id.partition("/")[0])
        if kind is not None and query.match != EVERY_LINE and matches_message(query.match, text):
            return kind
    return None
