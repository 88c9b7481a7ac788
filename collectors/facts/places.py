"""Places: what a node is a part of, and by which of its labels that is known."""

from collections.abc import Mapping

RACK_PLACE = "rack"
ZONE_PLACE = "zone"

# The labels of each kind of place, best first. From the closest to the highest: what fails above takes along what is
# below. NVIDIA's are those of GPU feature discovery and of Topograph; of power and cooling there is no custom.
PLACE_LABELS: Mapping[str, tuple[str, ...]] = {
    RACK_PLACE: ("yardmaster.io/rack", "topology.kubernetes.io/rack", "topology.rook.io/rack", "rack"),
    "nvlink_domain": (
        "yardmaster.io/nvlink-domain",
        "nvidia.com/gpu.clique",
        "network.topology.nvidia.com/accelerator",
    ),
    "switch": ("yardmaster.io/switch", "network.topology.nvidia.com/leaf"),
    "cooling_zone": ("yardmaster.io/cooling-zone",),
    "power_zone": ("yardmaster.io/power-zone",),
    ZONE_PLACE: ("topology.kubernetes.io/zone",),
}
PLACES = tuple(PLACE_LABELS)


def places_of(
    labels: Mapping[str, str], more: Mapping[str, tuple[str, ...]] = PLACE_LABELS
) -> Mapping[str, str]:
    """Return the places of a node with these labels, by kind. `more`: the labels to read, best first."""
    found = (
        (kind, next((labels[key] for key in keys if labels.get(key)), "")) for kind, keys in more.items()
    )
    return {kind: name for kind, name in found if name}
