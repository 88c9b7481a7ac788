"""The verdict on a node: what its tests said, held against what its model reached in this fleet before. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import median

from alerts.alert import Alert
from collectors.acceptance.readings import MeasuredFigure, NextStep, PartReport, PartState, ReadResult
from collectors.facts.sentences import listed, sentence
from commands.acceptance.acceptance import Acceptance, AcceptanceState, Shortfall, newest_of_nodes
from commands.acceptance.one_gpu import is_about, of_its_gpu

SLOW_BELOW = 0.9  # of the median
LEAST_SIBLINGS = 3  # other GPUs of a node that say how fast one of them should be
MOST_KEPT = 256  # figures of an acceptance
MOST_REASONS = 8

# What fires about a GPU under load shortly after a pass: the tests did not see it.
CONTRADICTING = frozenset(
    {
        "GPUThermalThrottling",
        "GPUClockThrottled",
        "GPUPowerThrottling",
        "GPUPowerBrake",
        "GPUTemperatureHigh",
        "GPUXIDError",
        "GPUXIDChanged",
        "GPUXIDLogged",
        "GPUFellOffBusLogged",
        "GPUUnhealthy",
        "GPUMissing",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """What came of one test. `hung`: it began and did not end in time; `not_run`: why it could not run."""

    name: str
    reading: ReadResult | None = None
    hung: str = ""
    not_run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeUnderTest:
    """The node as it is when its tests are over. `takes_pods`: what was tested does again, before its verdict."""

    uid: str
    boot_id: str
    takes_pods: bool = False


def judged(
    acceptance: Acceptance,
    tests: Sequence[SuiteResult],
    earlier: Iterable[Acceptance],
    *,
    node: NodeUnderTest | None,
    now: datetime,
    slow_below: float = SLOW_BELOW,
    watched_for: timedelta = timedelta(0),
) -> Acceptance:
    """Return the acceptance with its verdict. `earlier`: acceptances of the fleet, its own node's among them."""
    readings = {one.name: of_its_gpu(acceptance, one.reading) for one in tests if one.reading is not None}
    before = _comparable(acceptance, earlier)
    figures = tuple(figure for reading in readings.values() for figure in reading.figures)[:MOST_KEPT]
    versions = {name: said for reading in readings.values() for name, said in reading.versions.items()}
    findings = (
        *(_as_finding(one) for one in tests if one.hung),
        *(finding for reading in readings.values() for finding in reading.findings),
        *_missing_gpus(acceptance, readings),
        *_other_versions(versions, before),
    )
    after = replace(
        acceptance,
        ended_at=now,
        findings=findings,
        figures=figures,
        versions=versions,
        slow=_slow(figures, before, slow_below),
        compared=len(before),
    )
    return _with_verdict(after, tests, node, watched_for)


def _with_verdict(
    one: Acceptance, tests: Sequence[SuiteResult], node: NodeUnderTest | None, watched_for: timedelta
) -> Acceptance:
    changed = _changed(one, node)
    if changed:
        return replace(one, state=AcceptanceState.UNTESTED, reasons=(changed,))
    if one.failed:
        reasons = tuple(_said_of(finding) for finding in one.failed)
        return replace(one, state=AcceptanceState.FAILED, reasons=_few(reasons))
    if untested := _untested(tests):
        return replace(one, state=AcceptanceState.UNTESTED, reasons=_few(untested))
    if one.slow:
        return replace(
            one, state=AcceptanceState.SLOW, reasons=_few([slow_text(short) for short in one.slow])
        )
    assert one.ended_at is not None
    return replace(one, state=AcceptanceState.ACCEPTED, watched_until=one.ended_at + watched_for)


def withdrawn(one: Acceptance, alerts: Iterable[Alert], now: datetime) -> Acceptance | None:
    """Return the acceptance as withdrawn if an alert contradicts its tests; None if none does.

    `alerts`: those that fire in its cluster. One that fired before the tests had ended is not about them.
    """
    if not one.is_proof or one.ended_at is None or one.watched_until is None:
        return None
    for alert in alerts:
        since = alert.life.fired_at
        if not is_about(alert, one) or not alert.is_firing or since is None:
            continue
        if alert.name in CONTRADICTING and one.ended_at <= since <= one.watched_until:
            lasting = since - one.ended_at
            reason = sentence(
                "it passed, and {alert} fired {lasting} later", alert=alert.name, lasting=lasting
            )
            return replace(one, state=AcceptanceState.WITHDRAWN, reasons=(reason,))
    return None


def next_steps(one: Acceptance) -> tuple[NextStep, ...]:
    """Return what to do about what failed, what takes the most first, each once."""
    order = (NextStep.REPLACE, NextStep.REBOOT, NextStep.RESET, NextStep.CONFIGURE, NextStep.LOOK)
    wanted = {finding.next_step for finding in one.failed}
    return tuple(step for step in order if step in wanted)


def slow_text(short: Shortfall) -> str:
    """Return a figure that is slow: `GPU 3: memory copy 1102 GB/s, 82 % of the median`."""
    of_node = "{part}: {name} {value:g} {unit}, {share:.0f} % of what the other GPUs of this node reach ({median:g})"
    of_fleet = "{part}: {name} {value:g} {unit}, {share:.0f} % of the median of its model ({median:g})"
    return sentence(
        of_node if short.is_of_node else of_fleet,
        part=part_text("", short.gpu),
        name=short.name,
        value=short.value,
        unit=short.unit,
        share=100 * short.share,
        median=short.median,
    )


def part_text(part: str, gpu: int | None) -> str:
    """Return a part of a node: `GPU 3`, `memory of GPU 3`, `disk-write`."""
    if gpu is None:
        return part or sentence("the node")
    if not part or part == "GPU":
        return sentence("GPU {gpu}", gpu=gpu)
    return sentence("{part} of GPU {gpu}", part=part, gpu=gpu)


def _said_of(finding: PartReport) -> str:
    return listed(filter(None, (part_text(finding.part, finding.gpu), finding.said)), ":")


def _few(reasons: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reasons))[:MOST_REASONS]


def _changed(one: Acceptance, node: NodeUnderTest | None) -> str:
    """Return why what was tested is not the node that is there now; empty if it is."""
    if node is None:
        return sentence("{node} has left the cluster", node=one.node)
    if node.uid != one.uid:
        return sentence("another node has its name by now")
    if node.boot_id != one.boot_id:
        return sentence("it was rebooted while it was tested")
    if node.takes_pods:
        return sentence("somebody uncordoned it while it was tested, so its figures do not count")
    return ""


def _untested(tests: Sequence[SuiteResult]) -> list[str]:
    """Return which tests prove nothing, and why. An acceptance without a test proves nothing either."""
    if not tests:
        return [sentence("no test has run")]
    found: list[str] = []
    for one in tests:
        if one.not_run:
            found.append(listed((one.name, one.not_run), ":"))
        elif one.reading is None:
            found.append(listed((one.name, sentence("it has not run")), ":"))
        elif one.reading.problem:
            found.append(listed((one.name, one.reading.problem), ":"))
        elif not one.reading.passed:
            found.append(listed((one.name, sentence("none of its tests passed")), ":"))
    return found


def _as_finding(one: SuiteResult) -> PartReport:
    return PartReport(part=one.name, outcome=PartState.FAILED, said=one.hung, next_step=NextStep.REBOOT)


def _missing_gpus(one: Acceptance, readings: Mapping[str, ReadResult]) -> list[PartReport]:
    seen = [reading.gpus for reading in readings.values() if reading.gpus is not None]
    if not seen or min(seen) >= one.gpus:
        return []
    said = sentence("{seen} of its {gpus} GPUs are seen", seen=min(seen), gpus=one.gpus)
    return [PartReport(part="GPU", outcome=PartState.FAILED, said=said, next_step=NextStep.REBOOT)]


def _other_versions(versions: Mapping[str, str], before: Sequence[Acceptance]) -> list[PartReport]:
    """Return the versions that most other nodes of the model do not have: a warning, as one must be the first."""
    found: list[PartReport] = []
    for name, said in versions.items():
        others = Counter(one.versions[name] for one in before if name in one.versions)
        if not others:
            continue
        usual, count = others.most_common(1)[0]
        if usual != said and 2 * count > others.total():
            words = sentence("{said}, and the others of its model have {usual}", said=said, usual=usual)
            found.append(
                PartReport(part=name, outcome=PartState.WARNED, said=words, next_step=NextStep.CONFIGURE)
            )
    return found


def _comparable(one: Acceptance, earlier: Iterable[Acceptance]) -> list[Acceptance]:
    """Return the newest proof of each other node of its model: a node is not compared with itself."""
    proofs = (
        other
        for other in earlier
        if other.is_proof
        and other.cluster == one.cluster
        and other.model == one.model
        and other.node != one.node
        and not other.device
    )
    return list(newest_of_nodes(proofs).values()) if one.model else []


def _slow(
    figures: Sequence[MeasuredFigure], before: Sequence[Acceptance], slow_below: float
) -> tuple[Shortfall, ...]:
    """Return the figures below the median of the model or, where it has none, of the node's other GPUs."""
    usual: defaultdict[tuple[str, str, bool], list[float]] = defaultdict(list)
    for one in before:
        for figure in one.figures:
            usual[_kind(figure)].append(figure.value)
    found: list[Shortfall] = []
    for figure in figures:
        known = usual.get(_kind(figure), [])
        is_of_node = not known
        if is_of_node and figure.gpu is not None:
            known = [
                other.value for other in figures if _kind(other) == _kind(figure) and other.gpu != figure.gpu
            ]
            known = known if len(known) >= LEAST_SIBLINGS else []
        if not known:
            continue
        middle = median(known)
        is_slow = figure.value * slow_below > middle if figure.is_cost else figure.value < slow_below * middle
        if is_slow:
            found.append(
                Shortfall(
                    name=figure.name,
                    unit=figure.unit,
                    value=figure.value,
                    median=middle,
                    gpu=figure.gpu,
                    is_of_node=is_of_node,
                )
            )
    return tuple(sorted(found, key=lambda short: (short.share, short.gpu is None)))


def _kind(figure: MeasuredFigure) -> tuple[str, str, bool]:
    return figure.name, figure.unit, figure.gpu is None
