"""The demo's log documents as Filebeat would ship them: their index template and index names."""

from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

PATTERN = "filebeat-*"  # what our source is configured to search
TEMPLATE_NAME = "filebeat-demo"

_KEYWORD: Json = {"type": "keyword", "ignore_above": 1024}
_NAME: Json = {"properties": {"name": _KEYWORD}}

# These fields as in Filebeat's own template, without its thousands of others.
TEMPLATE: Json = {
    "index_patterns": [PATTERN],
    "priority": 200,
    "template": {
        "settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "1s"},
        "mappings": {
            "dynamic": True,
            "dynamic_templates": [{"texts": {"match_mapping_type": "string", "mapping": _KEYWORD}}],
            "properties": {
                "@timestamp": {"type": "date"},
                "message": {"type": "text"},
                "stream": _KEYWORD,
                "log": {"properties": {"level": _KEYWORD, "offset": {"type": "long"}}},
                "host": _NAME,
                "service": _NAME,
                "systemd": {"properties": {"unit": _KEYWORD}},
                "syslog": {"properties": {"identifier": _KEYWORD, "priority": {"type": "long"}}},
                "kubernetes": {
                    "properties": {
                        "node": _NAME,
                        "namespace": _KEYWORD,
                        "pod": {"properties": {"name": _KEYWORD, "uid": _KEYWORD}},
                        "container": _NAME,
                    }
                },
            },
        },
    },
}


def index_of(at: datetime) -> str:
    """The daily index of a document: `filebeat-8.19-2026.11.21`."""
    return f"filebeat-8.19-{at.astimezone(UTC):%Y.%m.%d}"
