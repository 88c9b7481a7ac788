"""This file has what the source to Elasticsearch must be told: where, as whom, which fields, how much."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from urllib.parse import urlsplit

from collectors.facts.redaction import Redactor

# Our words and the document fields that may hold them, the surest first. Filebeat's names, then Fluent Bit's and
# Fluentd's, then what comes from the journal or a syslog. Several may exist in one index: a document's first counts.
DEFAULT_FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "time": ("@timestamp",),
        "message": ("message", "log", "MESSAGE"),
        "level": ("log.level", "level", "severity"),
        "node": (
            "kubernetes.node.name",
            "kubernetes.host",
            "host.name",
            "_HOSTNAME",
            "HOSTNAME",
            "logsource",
        ),
        "namespace": ("kubernetes.namespace", "kubernetes.namespace_name"),
        "pod": ("kubernetes.pod.name", "kubernetes.pod_name"),
        "container": ("kubernetes.container.name", "kubernetes.container_name"),
        "component": (
            "service.name",
            "kubernetes.labels.k8s-app",
            "kubernetes.labels.component",
            "kubernetes.labels.app_kubernetes_io/name",
            "kubernetes.labels.app",
            "systemd.unit",
            "syslog.identifier",
            "SYSLOG_IDENTIFIER",
            "program",
        ),
        "training": (
            "kubernetes.labels.training_kubeflow_org/job-name",
            "kubernetes.labels.jobset_sigs_k8s_io/jobset-name",
            "kubernetes.labels.volcano_sh/job-name",
            "kubernetes.labels.ray_io/cluster",
            "kubernetes.labels.batch_kubernetes_io/job-name",
            "kubernetes.labels.job-name",
        ),
        "offset": ("log.offset",),  # orders lines of one file that carry the same time
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """One way to log in: an API key (as Elasticsearch gives it, base64), a user and password, or a bearer token."""

    api_key: str = field(default="", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)
    bearer: str = field(default="", repr=False)


def nobody() -> Credentials | None:
    """The credentials of a server that asks for none."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticsearchOptions:
    """Where the logs are and how to look at them. Raises ValueError for an address that cannot be used.

    `credentials` is asked before every call, so that a rotated file is read again. `fields`: see `fields_with`.
    `lag`: windows end that long before the moment that is asked for, since a line is searchable only some seconds
    after it was written. `bytes_cap`: of one answer, in bytes; a larger one is given up while it arrives.
    """

    urls: tuple[str, ...]
    index: str = "filebeat-*"  # patterns, aliases, data streams; several with commas
    name: str = "elasticsearch"  # how observations call us
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: DEFAULT_FIELDS)
    credentials: Callable[[], Credentials | None] = nobody
    ca_file: str | None = None
    verify: bool = True
    timeout: timedelta = timedelta(seconds=10)  # of one look, however many calls it takes
    lag: timedelta = timedelta(seconds=10)
    stale_after: timedelta = timedelta(minutes=10)  # without a younger line: blind; 0: never
    bytes_cap: int = 8 * 1024 * 1024
    groups_cap: int = 10_000  # groups of one answer
    lines_cap: int = 2_000  # log lines that one look reads
    redact: Callable[[str], str] = field(default_factory=lambda: Redactor().clean)

    def __post_init__(self) -> None:
        if not self.urls:
            raise ValueError("elasticsearch.url is empty: give the address of the server")
        for url in self.urls:
            address_of(url)


def address_of(url: str) -> str:
    """The address with its port, as the client wants it. Raises ValueError, never repeating a password."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("elasticsearch.url is not an address: write it like https://logs.example.com:9200")
    if parts.username or parts.password:
        raise ValueError(
            f"elasticsearch.url for {parts.hostname} holds a user or password: give them as basic_auth or api_key_file"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def fields_with(own: Mapping[str, str | Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
    """The shipped fields, with the user's own in the place of those of the same word."""
    given = {word: (names,) if isinstance(names, str) else tuple(names) for word, names in own.items()}
    return MappingProxyType({**DEFAULT_FIELDS, **given})
