"""This file plans the launch of a training: an order from the line, its place, whether it fits, the steps."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath

from collectors.cluster.inventory import Inventory
from collectors.facts.errors import SourceError
from commands.command import Draft, UnusableError
from commands.desk import Desk, Reader
from commands.steps import Ref
from commands.trainings import job
from commands.trainings.manifests import MANAGED_BY, OURS, TRAINING
from commands.trainings.order import Order, check, script_of
from commands.trainings.preflight import Fit, place, rooms_of
from commands.trainings.shortage import helps, shortage


@dataclass(frozen=True, slots=True, kw_only=True)
class Launching:
    """The words of `training launch`; `extra` are those after `--`."""

    name: str
    image: str
    namespace: str
    workers: int
    gpus: float
    gpu_resource: str
    cpu: str
    memory: str
    ps: int
    script: str
    team: str
    priority_class: str
    max_duration: timedelta | None
    backoff: int
    node_selector: tuple[str, ...]
    metrics_port: int
    service_per_task: bool
    wait: bool
    extra: tuple[str, ...] = ()


async def launch(deed: Launching, desk: Desk) -> Draft:
    """The steps that make the training, if its name is free and its tasks fit. Raises UnusableError otherwise."""
    order = order_of(deed, desk)
    check(order, images=desk.policy.training_images)
    if (reader := desk.site.reader) is None:
        raise UnusableError(f"The settings give no access to Kubernetes for {desk.site.name}.")
    has_namespace = await _has_namespace(order, desk, reader)
    has_secret = has_namespace and await _has_secret(order, reader)
    if order.pull_secret and not has_secret:
        await _check_source(order, reader)
    notes = _place(order, desk.site.inventory(), may_wait=deed.wait)
    async with desk.store.unit() as unit:
        before = await unit.launches.get(f"{desk.site.name}/{order.id}")
    steps = (
        *job.launch(order, has_namespace=has_namespace, has_secret=has_secret),
        job.note_launch(
            order,
            cluster=desk.site.name,
            now=desk.now,
            channel=desk.origin.channel,
            thread=desk.origin.thread,
            by_name=desk.actor.name,
            before=before,
        ),
    )
    if order.team and order.team not in desk.actor.teams:
        notes.append(f"It is launched for team {order.team}, in which you are not.")
    gpus = f", {order.workers * order.gpus:g} {order.gpu_resource}" if order.gpus else ""
    title = f"Launch {order.id}: {order.workers} worker{'s' if order.workers != 1 else ''}{gpus}"
    return Draft(title=title, steps=steps, notes=tuple(notes), keeps=bool(order.script_text))


def order_of(deed: Launching, desk: Desk) -> Order:
    """The order that the line and what came with it amount to."""
    pairs = [word.partition("=") for word in deed.node_selector]
    if wrong := next((key for key, sign, _ in pairs if not sign), None):
        raise UnusableError(f"`--node-selector {wrong[:60]}`: write it like pool=large.")
    teams, owners = sorted(desk.actor.teams), desk.policy.owners
    return Order(
        name=deed.name,
        namespace=deed.namespace or deed.name,
        image=deed.image,
        workers=deed.workers,
        gpus=deed.gpus,
        gpu_resource=deed.gpu_resource,
        cpu=deed.cpu,
        memory=deed.memory,
        servers=deed.ps,
        script="" if desk.uploads else deed.script,
        script_text=_script(deed.script, desk),
        arguments=deed.extra,
        team=deed.team or (teams[0] if len(teams) == 1 else ""),
        owner=next((name for name, id in owners.items() if id == desk.actor.id), desk.actor.name),
        launched_by=desk.actor.id,
        priority_class=deed.priority_class,
        max_duration=deed.max_duration,
        backoff=deed.backoff,
        node_selector={key: value for key, _, value in pairs},
        service_per_task=deed.service_per_task,
        metrics_port=deed.metrics_port,
        pull_secret=desk.policy.pull_secret,
    )


def _script(path: str, desk: Desk) -> str:
    if not desk.uploads:
        return ""
    if len(desk.uploads) > 1:
        names = ", ".join(upload.name for upload in desk.uploads[:5])
        raise UnusableError(
            f"There are {len(desk.uploads)} files with this line ({names}): I take one script."
        )
    (upload,) = desk.uploads
    if path and PurePosixPath(path).name != upload.name:
        raise UnusableError(
            f"`--script {path[:60]}` names a file of the image and {upload.name} came with the line: which one?"
        )
    return script_of(upload.content)


async def _has_namespace(order: Order, desk: Desk, reader: Reader) -> bool:
    """False: to be created. True: ours and empty, from an earlier run. Raises UnusableError for any other."""
    found = await reader.read(Ref(api="v1", kind="Namespace", name=order.namespace))
    view = next((one for one in desk.site.trainings() if one.id == order.id), None)
    if view is not None and view.workloads:
        doing = f"is there already ({view.life.value})"
        raise UnusableError(
            f"Training `{view.id}` {doing}: see `training show {view.id}`; `training stop {view.id}` clears it away."
        )
    if found is None:
        return False
    labels = found["metadata"].get("labels") or {}
    if found["metadata"].get("deletionTimestamp"):
        raise UnusableError(f"Namespace `{order.namespace}` is still being deleted: try again in a moment.")
    if labels.get(MANAGED_BY) != OURS or labels.get(TRAINING) != order.name:
        raise UnusableError(
            f"Namespace `{order.namespace}` is there already and not ours to use: choose another `--namespace`."
        )
    return True


async def _has_secret(order: Order, reader: Reader) -> bool:
    """Whether the copy from an earlier run is seen. It seldom may be: what is not seen is made, or is there then."""
    name = order.pull_secret.partition("/")[2]
    if not name:
        return False
    secret = Ref(api="v1", kind="Secret", namespace=order.namespace, name=name)
    try:
        return await reader.read(secret) is not None
    except SourceError as why:
        if why.status == 403:
            return False
        raise


async def _check_source(order: Order, reader: Reader) -> None:
    place, _, name = order.pull_secret.partition("/")
    if not place or not name:
        raise UnusableError(
            f"The settings' pull secret `{order.pull_secret}` should be written namespace/name: "
            "ask whoever runs Yardmaster."
        )
    found = await reader.read(Ref(api="v1", kind="Secret", namespace=place, name=name))
    if found is None:
        raise UnusableError(f"The pull secret `{order.pull_secret}` that new trainings get is not there.")
    if found.get("type") != "kubernetes.io/dockerconfigjson":
        raise UnusableError(f"`{order.pull_secret}` is no pull secret: its type is {found.get('type')}.")


def _place(order: Order, inventory: Inventory, *, may_wait: bool) -> list[str]:
    """What to tell of its place. Raises UnusableError when there is none and nobody wants to wait."""
    needs = job.needs(order)
    rooms = rooms_of(inventory, [name for need in needs for name in need.amounts])
    fit = place(needs, rooms)
    if fit.is_whole:
        return [f"It fits now, for example on {_where(fit)}."]
    why = f"{shortage(fit)}."
    help_ = helps(needs, rooms, fit)
    if not may_wait:
        said = f" What would help: {'; '.join(help_)}." if help_ else ""
        raise UnusableError(f"It does not fit: {why}{said} `--wait` launches it anyway, to wait for room.")
    return [
        f"It does not fit now: {why} Tasks that find a place hold it while the others wait.",
        *help_,
    ]


def _where(fit: Fit, at_most: int = 6) -> str:
    on: Counter[str] = Counter()
    for _, node, count in fit.placed:
        on[node] += count
    names = [f"{node} ({count})" if count > 1 else node for node, count in sorted(on.items())]
    return ", ".join(names[:at_most]) + (f" and {len(names) - at_most} more" if len(names) > at_most else "")
