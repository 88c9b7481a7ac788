"""Query strings: what they match and what they do not. Text is analysed, names are not."""

from collections.abc import Iterable

from collectors.sources.elasticsearch.queries.query_strings import escape_query, quote_query
from tests.contract.elasticsearch.own_logs import Logs

LINES = {
    "bus": "NVRM: Xid (PCI:0000:b3:00): 79, pid='<unknown>', GPU has fallen off the bus.",
    "oom": "CUDA out of memory. Tried to allocate 2.00 GiB",
    "dns": "dial tcp: lookup node-1.example.com: Temporary failure in name resolution",
    "snake": "nf_conntrack: table full, dropping packet",
    "han": "训练任务失败：显存不足",
    "quote": 'unable to mount "/var/lib/kubelet/pods": can\'t read superblock',
    "klog": "E0110 12:34:56.789012    1234 reflector.go:138] Failed to watch *v1.Pod: unknown",
    "plain": "OR AND NOT are words too",
}


TEXTS: dict[str, set[str]] = {
    "*": set(LINES),
    "": set(LINES),
    "message:*": set(LINES),
    "*:*": set(LINES),
    'message:"fallen off the bus"': {"bus"},
    'message:"off fallen"': set(),
    'message:"NVRM: Xid"': {"bus"},
    'message:"Xid PCI:0000:b3:00 79"': {"bus"},
    "message:xid": {"bus"},
    "message:Xid AND message:79": {"bus"},
    "message:Xid AND NOT message:79": set(),
    "message:(Xid OR cuda)": {"bus", "oom"},
    "message:(Xid cuda)": {"bus", "oom"},
    "message:(+Xid +cuda)": set(),
    "cuda memory": {"oom"},
    "cuda OR superblock": {"oom", "quote"},
    "cuda && memory || superblock": {"oom"},  # as in Lucene: only the first two are required
    "NOT message:Xid": set(LINES) - {"bus"},
    "!message:Xid": set(LINES) - {"bus"},
    "-message:Xid": set(LINES) - {"bus"},
    "message:Xid OR (NOT message:the)": set(LINES) - set(),
    "message:conntrack": set(),
    "message:nf_conntrack": {"snake"},
    "message:*conntrack": {"snake"},
    "message:nf*": {"snake"},
    "message:NF_CONN*": {"snake"},
    "message:superbl?ck": {"quote"},
    "message:example.com": {"dns"},
    "message:node\\-1.example.com": {"dns"},
    "message:can't": {"quote"},
    'message:"失败"': {"han"},
    "message:显存": {"han"},
    'message:"显存失败"': set(),
    "message:789012": set(),
    "message:56.789012": {"klog"},
    "message:reflector.go": {"klog"},
    'message:"reflector.go 138"': {"klog"},
    "message:v1.pod": {"klog"},
    "message:pod": {"klog"},
    "message:pods": {"quote"},
    "message:\\/var\\/lib": {"quote"},
    'message:"/var/lib"': {"quote"},
    'message:"\\"/var"': {"quote"},
    "message:bus^2": {"bus"},
    'message:"the bus"^2.5': {"bus"},
    "message:\\AND": {"plain"},
    'message:"or and not"': {"plain"},
    "nowhere:bus": set(),
    "NOT nowhere:bus": set(LINES),
    "message:\\-\\-\\-": set(),
    'message:bus AND message:"…"': {"bus"},
}


async def found_by(logs: Logs, matches: Iterable[str]) -> dict[str, set[str]]:
    """Return the pods that each query string finds; one index for all of them, as a real server takes long for it."""
    return {match: set(await logs.counts(match, by=("pod",))) for match in matches}


async def test_text_matches_by_its_words(logs: Logs) -> None:
    await logs.index(*(logs.pod(text, pod=name) for name, text in LINES.items()))
    assert await found_by(logs, TEXTS) == TEXTS


NAMES: dict[str, set[str]] = {
    "pod:detr-worker-0": {"detr-worker-0"},
    "pod:detr": set(),
    "pod:worker": set(),
    "pod:detr-worker-*": {"detr-worker-0", "detr-worker-1"},
    "pod:DETR-worker-0": set(),
    "pod:detr-worker-?": {"detr-worker-0", "detr-worker-1"},
    'pod:"detr-worker-0"': {"detr-worker-0"},
    "pod:(detr-worker-0 OR coredns_x.y)": {"detr-worker-0", "coredns_x.y"},
    "pod:coredns_x.y": {"coredns_x.y"},
    "kubernetes.pod.name:coredns_x.y": {"coredns_x.y"},
    "_exists_:level": {"detr-worker-1"},
    "NOT _exists_:level": {"detr-worker-0", "coredns_x.y"},
    "level:error": {"detr-worker-1"},
    "log.level:error": {"detr-worker-1"},
    "node:gpu-a02": {"coredns_x.y"},
    "NOT node:gpu-a02": {"detr-worker-0", "detr-worker-1"},
    "message:hello AND level:(error OR fatal)": {"detr-worker-1"},
    "offset:>=5": {"detr-worker-1", "coredns_x.y"},
    "offset:>5": {"coredns_x.y"},
    "offset:[5 TO 7]": {"detr-worker-1", "coredns_x.y"},
    "offset:{5 TO 7]": {"coredns_x.y"},
    "offset:[* TO 5}": {"detr-worker-0"},
    "offset:abc": set(),
    "offset:7": {"coredns_x.y"},
    "namespace:a\\:b": {"coredns_x.y"},
}


async def test_names_match_only_completely(logs: Logs) -> None:
    await logs.index(
        logs.pod("hello", pod="detr-worker-0"),
        logs.pod("hello", pod="detr-worker-1", level="error", offset=5),
        logs.pod("hello", pod="coredns_x.y", node="gpu-a02", namespace="a:b", offset=7),
    )
    assert await found_by(logs, NAMES) == NAMES


ODD = (
    "plain",
    "a b",
    "a-b_c.d",
    "AND",
    "not OR",
    "a:b",
    'say "hi"',
    "back\\slash",
    "(x) [y] {z}",
    "a/b/c",
    "*?~^",
    "+-=&&||!",
    "中文 名字",
    "-leading",
    " ",
)


async def test_a_quoted_or_escaped_value_matches_only_itself(logs: Logs) -> None:
    await logs.index(*(logs.pod("x", pod=other) for other in ODD))
    quoted = {f"pod:{quote_query(value)}": {value} for value in ODD if value.strip()}
    escaped = {f"pod:{escape_query(value)}": {value} for value in ODD if value.split() == [value]}
    assert await found_by(logs, quoted) == quoted
    assert await found_by(logs, escaped) == escaped


async def test_a_label_matches_in_each_of_its_fields(logs: Logs) -> None:
    await logs.index(
        logs.host("x", node="gpu-a01"), logs.pod("x", node="gpu-a01"), logs.host("x", node="gpu-a02")
    )
    assert await logs.counts("node:gpu-a01") == {"gpu-a01": 2}
    assert await logs.counts("node:(gpu-a01 OR gpu-a02) AND message:x") == {"gpu-a01": 2, "gpu-a02": 1}
    assert await logs.counts("NOT node:gpu-a01") == {"gpu-a02": 1}


async def test_messages_of_other_shippers_match_too(logs: Logs) -> None:
    await logs.create(
        "fluentbit",
        {
            "MESSAGE": {"type": "text"},
            "kubernetes": {"properties": {"host": {"type": "keyword"}}},
        },
    )
    line = {
        "@timestamp": logs.host("")["@timestamp"],
        "MESSAGE": "the bus is gone",
        "kubernetes": {"host": "gpu-b01"},
    }
    await logs.index(line, into="fluentbit")
    await logs.index(logs.host("the bus is gone"))
    assert await logs.counts('message:"the bus"') == {"gpu-a01": 1, "gpu-b01": 1}
    assert await logs.counts('"the bus"') == {"gpu-a01": 1, "gpu-b01": 1}
