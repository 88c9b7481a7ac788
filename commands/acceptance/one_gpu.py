"""One GPU of a node that is tested alone: what was read is of it, and which alerts are about it. Pure."""

from dataclasses import replace

from alerts.alert import Alert
from collectors.acceptance.readings import ReadResult
from commands.acceptance.acceptance import Acceptance


def is_about(alert: Alert, one: Acceptance) -> bool:
    """Whether the alert is about what was tested: of one GPU, an alert that names no other."""
    if alert.subject.node != one.node:
        return False
    return not one.device or not alert.subject.gpu or alert.subject.gpu in (one.gpu, one.device)


def of_its_gpu(one: Acceptance, reading: ReadResult) -> ReadResult:
    """Return the reading with the one GPU that was tested: in its pod, the tools count from 0."""
    if not one.device:
        return reading
    number = int(one.gpu) if one.gpu.isdecimal() else None
    return replace(
        reading,
        findings=tuple(
            replace(found, gpu=number, part=found.part if number is not None else found.part or one.gpu)
            for found in reading.findings
        ),
        figures=tuple(
            replace(figure, gpu=figure.gpu if number is None else number)
            for figure in reading.figures
            if figure.gpu is not None
        ),
    )
