"""Errors in Elasticsearch's own form, which name what the look-alike does not imitate."""

from typing import Any

Json = dict[str, Any]


class RefusalError(Exception):
    """A request that is answered with an error: its status, type and reason, as in Elasticsearch."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.kind = kind
        self.reason = reason

    def body(self) -> Json:
        cause = {"type": self.kind, "reason": self.reason}
        return {"error": {"root_cause": [cause], **cause}, "status": self.status}


def not_imitated(what: str) -> RefusalError:
    """The refusal of what a real server may support and this one does not."""
    return RefusalError(400, "not_imitated_exception", f"this look-alike does not imitate {what}")


def no_index(name: str) -> RefusalError:
    return RefusalError(404, "index_not_found_exception", f"no such index [{name}]")


def only(given: Json, known: set[str], where: str) -> None:
    """Refuse a body with unknown keys instead of ignoring them."""
    if unknown := sorted(set(given) - known):
        raise not_imitated(f"`{unknown[0]}` in `{where}`")
