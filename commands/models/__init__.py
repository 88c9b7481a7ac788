"""Stored rows of commands. A new kind of row is a module of this folder, or stands beside its like."""

from commands.models.audit import AUDITED, AuditEntry
from commands.models.due_command_rows import DueCommand
from commands.models.evidence_rows import NodeEvidence
from commands.models.launches import FOLLOWED_EVERY, Launch, LogFollow, TrainingNotice
from commands.models.leases import CordonLease, DailyReminder, GpuLease, LeasedNode
from commands.models.person_rows import Person
from commands.models.reclaiming import OPEN_REQUEST, ReclaimRequest, ReclaimState, TrainingAnswer
from commands.models.requests import HandledRequest

__all__ = [
    "AUDITED",
    "FOLLOWED_EVERY",
    "OPEN_REQUEST",
    "AuditEntry",
    "CordonLease",
    "DailyReminder",
    "DueCommand",
    "GpuLease",
    "HandledRequest",
    "Launch",
    "LeasedNode",
    "LogFollow",
    "NodeEvidence",
    "Person",
    "ReclaimRequest",
    "ReclaimState",
    "TrainingAnswer",
    "TrainingNotice",
]
