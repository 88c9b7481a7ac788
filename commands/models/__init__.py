"""Stored rows of commands. A new kind of row is a module of this folder, or stands beside its like."""

from commands.models.agenda import DueCommand
from commands.models.audit import AUDITED, AuditEntry
from commands.models.evidence import NodeEvidence
from commands.models.leases import CordonLease, DailyReminder, GpuLease, LeasedNode
from commands.models.people import Person
from commands.models.reclaiming import OPEN_REQUEST, ReclaimRequest, ReclaimState, TrainingAnswer
from commands.models.requests import HandledRequest
from commands.models.trainings import FOLLOWED_EVERY, Launch, LogFollow, TrainingNotice

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
