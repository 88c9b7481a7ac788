"""A real OpenSearch on loopback, newly unpacked, without data, plugins and security: its integration test build."""

from typing import ClassVar

from tests.real.parts.layout import opensearch_zip
from tests.real.servers.elasticsearch import ElasticsearchServer


class OpenSearchServer(ElasticsearchServer):
    """A node that runs within a `with` block. It is unpacked and started as Elasticsearch is."""

    part: ClassVar[str] = "opensearch"
    environment_prefix: ClassVar[str] = "OPENSEARCH"
    settings: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__(opensearch_zip())
