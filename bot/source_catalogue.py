"""The catalogue of sources: from a field of a cluster's settings to the source that it configures."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from bot.settings.source_options import elasticsearch_options, prometheus_options
from bot.settings.source_settings import ClusterSettings, ElasticsearchSettings, PrometheusSettings
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.internal_errors import InternalErrors
from collectors.sources.cluster_sources import ClusterSources
from collectors.sources.source_port import Source
from collectors.unreadable_items import UnreadableItems
from commands.core.context import NOT_CONNECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceParts:
    """What a source may use: where bugs and unreadable items are counted, and what makes log lines safe."""

    redact: Redactor
    errors: InternalErrors = field(default_factory=InternalErrors)
    unreadable: UnreadableItems = field(default_factory=UnreadableItems)


# Each loads its module with the libraries that only it needs: what the settings do not have takes no memory.
def _prometheus(settings: PrometheusSettings, parts: SourceParts) -> Source:
    from collectors.sources.prometheus.source import PrometheusSource

    return PrometheusSource(prometheus_options(settings), unreadable=parts.unreadable)


def _elasticsearch(settings: ElasticsearchSettings, parts: SourceParts) -> Source:
    from collectors.sources.elasticsearch.source import ElasticsearchSource

    return ElasticsearchSource(elasticsearch_options(settings, parts.redact), unreadable=parts.unreadable)


SourceCatalogue = Mapping[str, Callable[[Any, SourceParts], Source]]

SOURCES: SourceCatalogue = {
    "prometheus": _prometheus,
    "elasticsearch": _elasticsearch,
}


def not_connected(settings: ClusterSettings, catalogue: SourceCatalogue = SOURCES) -> dict[str, str]:
    """Return the sources that a cluster's settings do not have, as those that cannot be seen."""
    names = (*catalogue, "kubernetes")
    return {name: NOT_CONNECTED for name in names if getattr(settings, name) is None}


async def open_sources(
    settings: ClusterSettings,
    parts: SourceParts,
    stack: AsyncExitStack,
    catalogue: SourceCatalogue = SOURCES,
) -> ClusterSources:
    """Open the sources that a cluster's settings have; `stack` closes them.

    Raises SourceError when two of them answer the same queries.
    """
    opened: list[Source] = []
    for name, open_source in catalogue.items():
        section = getattr(settings, name)
        if section is None:
            continue
        source = open_source(section, parts)
        stack.push_async_callback(source.close)
        opened.append(source)
    try:
        return ClusterSources(opened, errors=parts.errors)
    except SourceError as error:
        raise SourceError(f"clusters: {settings.name}: {error}", temporary=False) from error
