"""The labels that number the GPUs of a node, without those that say the model of all of them. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.families import INSTANCE, Family, Role


def without_models(family: Family, series: Sequence[Labels]) -> Family:
    """Return the family without the names of a GPU that are the same for all GPUs of a node here.

    telegraf's `gpu_id` is the id of the PCI device, and all-smi's `gpu` the product.
    """
    if Role.GPU not in family.roles:
        return family
    known = family.roles[Role.GPU]
    names = tuple(name for name in known.names if not _is_of_the_model(family, series, name))
    if names == known.names:
        return family
    return replace(family, roles={**family.roles, Role.GPU: replace(known, names=names)})


def _is_of_the_model(family: Family, series: Sequence[Labels], name: str) -> bool:
    """Return whether targets have several GPUs, by their UUIDs, and this label says the same of each, in words."""
    values: dict[tuple[str, ...], set[str]] = defaultdict(set)
    uuids: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for labels in series:
        uuid = next((labels[one] for one in family.roles[Role.UUID].names if labels.get(one)), "")
        if labels.get(name) and uuid:
            target = tuple(labels.get(one, "") for one in ("job", INSTANCE, *family.roles[Role.NODE].names))
            values[target].add(labels[name])
            uuids[target].add(uuid)
    several = [values[target] for target, found in uuids.items() if len(found) > 1]
    return bool(several) and all(len(some) == 1 and not next(iter(some)).isdecimal() for some in several)
