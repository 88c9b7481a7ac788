"""Requests for a reboot: of whom they are asked here, as the settings say."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

REBOOT_HOOK = "reboot"  # the name of its webhook


@dataclass(frozen=True, slots=True, kw_only=True)
class RebootDefaults:
    """Whom a reboot is asked of: an annotation or a label that a controller watches, or a webhook.

    `storage_labels`: of nodes that have OSDs which no pod shows. `storage_team` may ask for their reboot.
    """

    annotation: Mapping[str, str] = field(default_factory=dict)
    label: Mapping[str, str] = field(default_factory=dict)
    has_webhook: bool = False
    within: timedelta = timedelta(minutes=30)
    storage_team: str = ""
    storage_labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_set(self) -> bool:
        return bool(self.annotation or self.label or self.has_webhook)
