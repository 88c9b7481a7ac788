"""Settings of what Yardmaster reads: clusters with their Kubernetes API, Prometheus and Elasticsearch."""

from datetime import timedelta
from pathlib import Path

from pydantic import Field, SecretStr

from bot.settings.section import Authorization, BasicAuth, Duration, HttpHeaders, Section, TlsConfig
from bot.settings.value_types import (
    Address,
    AddressWithoutLogin,
    ClusterName,
    ControlPlanePart,
    ExporterName,
    IndexName,
    LabelName,
    LabelRole,
    LabelValue,
    Link,
    LogField,
    NodeLabel,
    PlaceKind,
    SecretAddress,
)
from collectors.facts.clock import duration


class KubernetesSettings(Section):
    kubeconfig: str = ""
    context: str = ""
    stale_after: Duration = Field(
        default=duration("90s"), ge=timedelta(seconds=2), description="blind after this long without answers"
    )


class PrometheusSettings(Section):
    """The fields of Prometheus' own http_config."""

    url: Address
    authorization: Authorization | None = None
    basic_auth: BasicAuth | None = None
    tls_config: TlsConfig = TlsConfig()
    proxy_url: SecretAddress | None = None
    http_headers: HttpHeaders = Field(default={})
    params: dict[str, str] = Field(default={})
    timeout: Duration = Field(default=duration("8s"), description="timeout of one query")
    stale_after: Duration = Field(default=duration("3m"), description="blind after this long without `up`")
    labels: dict[ExporterName, dict[LabelRole, LabelName | tuple[LabelName, ...]]] = Field(default={})
    matchers: dict[LabelName, LabelValue] = Field(
        default={}, description="labels that this cluster's series have, in a store for several clusters"
    )
    unexposed: tuple[ControlPlanePart, ...] = ()
    series_cap: int = Field(default=100_000, ge=1)
    byte_cap: int = Field(default=32 << 20, ge=1 << 16, description="of one response, after decompression")


class ElasticsearchSettings(Section):
    url: AddressWithoutLogin | tuple[AddressWithoutLogin, ...]
    index: IndexName = "filebeat-*"
    api_key: SecretStr | None = None
    api_key_file: Path | None = None
    basic_auth: BasicAuth | None = None
    ca_file: str = ""
    fields: dict[LogField, str | tuple[str, ...]] = Field(default={})
    timeout: Duration = duration("10s")
    lag: Duration = Field(default=duration("10s"), description="delay until a log line is searchable")
    stale_after: Duration = Field(default=duration("10m"), description="blind after this long without lines")


class ClusterSettings(Section):
    name: ClusterName
    kubernetes: KubernetesSettings | None = KubernetesSettings()
    impersonate: bool = False
    prometheus: PrometheusSettings | None = None
    elasticsearch: ElasticsearchSettings | None = None
    links: dict[str, Link] = Field(default={})
    places: dict[PlaceKind, tuple[NodeLabel, ...]] = Field(default={})
