"""Options of the Elasticsearch source: address, credentials, fields, limits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from urllib.parse import urlsplit

from collectors.facts.redaction import Redactor

# The document fields of each label, the most reliable first: Filebeat's names, then Fluent Bit's and Fluentd's, then
# those of the journal and syslog. Several may exist in one index: the first that a document has is used.
DEFAULT_FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "time": ("@timestamp",),
        "message": ("message", "log", "MESSAGE"),
        "level": ("log.level", "level", "severity", "severity_label", "severity_text", "levelname", "lvl"),
        "priority": ("PRIORITY", "syslog.priority", "log.syslog.severity.code", "severity"),
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
        "offset": ("log.offset",),  # orders lines of one file with the same time
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """One of: an API key (base64, as Elasticsearch returns it), a user and a password, or a bearer token."""

    api_key: str = field(default="", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)
    bearer: str = field(default="", repr=False)


def no_credentials() -> Credentials | None:
    """Return the credentials of a server that needs none."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticsearchOptions:
    """Where the logs are and how to search them. Raises ValueError for an unusable address.

    `credentials` is called before every request, so that a rotated file is read again. `fields`: see `fields_with`.
    `lag`: windows end this long before the query's time, since a line becomes searchable only some seconds after it
    was written. `bytes_cap`: of one response; a larger one is aborted while it arrives.
    """

    urls: tuple[str, ...]
    index: str = "filebeat-*"  # patterns, aliases, data streams; several with commas
    name: str = "elasticsearch"  # the `source` of its results
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: DEFAULT_FIELDS)
    credentials: Callable[[], Credentials | None] = no_credentials
    ca_file: str | None = None
    verify: bool = True
    timeout: timedelta = timedelta(seconds=10)  # of one query, including all its requests
    lag: timedelta = timedelta(seconds=10)
    stale_after: timedelta = timedelta(minutes=10)  # blind without a newer line; 0: never
    bytes_cap: int = 8 * 1024 * 1024
    groups_cap: int = 10_000  # groups of one result
    lines_cap: int = 2_000  # log lines that one query reads
    redact: Callable[[str], str] = field(default_factory=lambda: Redactor().clean)

    def __post_init__(self) -> None:
        if not self.urls:
            raise ValueError("elasticsearch.url is empty: set it to the address of the server")
        for url in self.urls:
            address_of(url)


def address_of(url: str) -> str:
    """Return the address with its port, as the client requires. Raises ValueError without the password in its text."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("elasticsearch.url is not an address: write it like https://logs.example.com:9200")
    if parts.username or parts.password:
        raise ValueError(
            f"elasticsearch.url for {parts.hostname} contains a user or password: use basic_auth or api_key_file"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def fields_with(own: Mapping[str, str | Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
    """Return the default fields, with those of a label replaced by the user's own."""
    given = {label: (names,) if isinstance(names, str) else tuple(names) for label, names in own.items()}
    return MappingProxyType({**DEFAULT_FIELDS, **given})
