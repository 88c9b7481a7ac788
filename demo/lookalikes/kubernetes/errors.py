"""Refusals: one exception that carries a `Status` in the real server's words."""

from typing import Any

from demo.lookalikes.kubernetes.objects import Json


class RefusedError(Exception):
    """A request that is answered with a `Status` of `Failure`. `code` is the HTTP status."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        details: Json | None = None,
        retry_after: int | None = None,
        resume: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = dict(details or {})
        self.retry_after = retry_after
        self.resume = resume

    def status(self) -> Json:
        """Return the `v1 Status` object."""
        details: dict[str, Any] = dict(self.details)
        if self.retry_after is not None:
            details["retryAfterSeconds"] = self.retry_after
        status: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {"continue": self.resume} if self.resume else {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if details:
            status["details"] = details
        return status


def _details(resource: str, name: str, group: str = "") -> Json:
    return {key: value for key, value in (("name", name), ("group", group), ("kind", resource)) if value}


def _qualified(resource: str, group: str) -> str:
    return f"{resource}.{group}" if group else resource


def not_found(resource: str, name: str, group: str = "") -> RefusedError:
    message = f'{_qualified(resource, group)} "{name}" not found'
    return RefusedError(404, "NotFound", message, details=_details(resource, name, group))


def no_such_path() -> RefusedError:
    return RefusedError(404, "NotFound", "the server could not find the requested resource")


def already_exists(resource: str, name: str, group: str = "") -> RefusedError:
    message = f'{_qualified(resource, group)} "{name}" already exists'
    return RefusedError(409, "AlreadyExists", message, details=_details(resource, name, group))


def conflict(
    resource: str, name: str, reason: str, group: str = "", causes: list[Json] | None = None
) -> RefusedError:
    details = _details(resource, name, group)
    if causes:
        details["causes"] = causes
    message = f'Operation cannot be fulfilled on {_qualified(resource, group)} "{name}": {reason}'
    return RefusedError(409, "Conflict", message, details=details)


def stale(resource: str, name: str, group: str = "") -> RefusedError:
    reason = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(resource, name, reason, group)


def invalid(kind: str, name: str, group: str, errors: list[tuple[str, str, str]]) -> RefusedError:
    """Return a 422 for errors of (field, reason such as FieldValueRequired, the real server's text)."""
    texts = [f"{field}: {text}" for field, _, text in errors]
    message = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    causes = [{"reason": reason, "message": text, "field": field} for field, reason, text in errors]
    details = {**_details(kind, name, group), "causes": causes}
    return RefusedError(
        422, "Invalid", f'{_qualified(kind, group)} "{name}" is invalid: {message}', details=details
    )


def bad_request(message: str) -> RefusedError:
    return RefusedError(400, "BadRequest", message)


def forbidden(
    resource: str, name: str, reason: str, group: str = "", causes: list[Json] | None = None
) -> RefusedError:
    subject = _qualified(resource, group) + (f' "{name}"' if name else "")
    details = _details(resource, name, group)
    if causes:
        details["causes"] = causes
    return RefusedError(403, "Forbidden", f"{subject} is forbidden: {reason}", details=details)


def expired(message: str, resume: str | None = None) -> RefusedError:
    return RefusedError(410, "Expired", message, resume=resume)
