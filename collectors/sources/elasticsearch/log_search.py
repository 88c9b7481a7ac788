"""A log search: what the steps of answering one have in common."""

from collections.abc import Callable
from dataclasses import dataclass

from collectors.sources.elasticsearch.bodies import Json, Window, in_all, in_window
from collectors.sources.elasticsearch.client import ElasticsearchClient
from collectors.sources.elasticsearch.fields import FieldMap


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSearch:
    """The lines of a window that match, read through one client.

    `match` is the filter of the lines; `by` are the words they are labelled with; `redact` hides secrets in texts.
    """

    client: ElasticsearchClient
    fields: FieldMap
    match: Json
    window: Window
    redact: Callable[[str], str]
    by: tuple[str, ...] = ()

    @property
    def query(self) -> Json:
        """The query for the matching lines of the window."""
        return in_all([self.match, in_window(self.fields, self.window)])
