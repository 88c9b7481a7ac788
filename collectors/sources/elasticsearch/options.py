"""Options of the Elasticsearch source: address, credentials, fields, limits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from urllib.parse import urlsplit

from collectors.facts.redaction import Redactor

# Labels of pods whose value names a component or a training. Some shippers keep their dots, others write `_`.
_COMPONENT_LABELS = ("k8s-app", "component", "app.kubernetes.io/name", "app")
_TRAINING_LABELS = (
    "training.kubeflow.org/job-name",
    "jobset.sigs.k8s.io/jobset-name",
    "volcano.sh/job-name",
    "ray.io/cluster",
    "batch.kubernetes.io/job-name",
    "job-name",
)


def _pod_labels(names: Sequence[str]) -> tuple[str, ...]:
    spelled = (spelling for name in names for spelling in (name.replace(".", "_"), name))
    return tuple(dict.fromkeys(f"kubernetes.labels.{name}" for name in spelled))


# The document fields of each label, the most reliable first: Filebeat's and Elastic Agent's names (ECS), those of
# Fluent Bit, Fluentd and Vector, of OpenTelemetry, then those of the journal and of syslog, whose underscores and
# capitals some shippers drop. Several may exist in one index: the first that a document has is used.
DEFAULT_FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "time": ("@timestamp", "timestamp"),
        "message": ("message", "log", "MESSAGE", "body.text"),
        "level": ("log.level", "level", "severity", "severity_label", "severity_text", "levelname", "lvl"),
        "priority": ("PRIORITY", "syslog.priority", "log.syslog.severity.code", "severity"),
        "node": (
            "kubernetes.node.name",
            "kubernetes.host",
            "kubernetes.node_name",
            "kubernetes.pod_node_name",
            "resource.attributes.k8s.node.name",
            "host.name",
            "host.hostname",
            "_HOSTNAME",
            "HOSTNAME",
            "_hostname",
            "hostname",
            "logsource",
            "host",
        ),
        "namespace": (
            "kubernetes.namespace",
            "kubernetes.namespace_name",
            "kubernetes.pod_namespace",
            "resource.attributes.k8s.namespace.name",
        ),
        "pod": ("kubernetes.pod.name", "kubernetes.pod_name", "resource.attributes.k8s.pod.name"),
        "container": (
            "kubernetes.container.name",
            "kubernetes.container_name",
            "resource.attributes.k8s.container.name",
        ),
        "component": (
            "service.name",
            *_pod_labels(_COMPONENT_LABELS),
            "systemd.unit",
            "_SYSTEMD_UNIT",
            "SYSTEMD_UNIT",
            "_systemd_unit",
            "systemd_unit",
            "syslog.identifier",
            "log.syslog.appname",
            "SYSLOG_IDENTIFIER",
            "syslog_identifier",
            "program",
            "process.name",
            "kubernetes.container.name",
            "kubernetes.container_name",
            "resource.attributes.k8s.container.name",
        ),
        "training": _pod_labels(_TRAINING_LABELS),
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
