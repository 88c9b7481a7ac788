"""GPU temperature: work draws power, power and poor cooling heat the GPU, and heat lowers its clock."""

from __future__ import annotations

import math
import random
from datetime import datetime, timedelta

from demo.world.state import CLOCK_IDLE, CLOCK_MAX, POWER_IDLE, POWER_MAX, Gpu, Host

SLOWDOWN = 87.0  # °C at which the driver lowers the clock
HARD_SLOWDOWN = 92.0  # °C at which the hardware lowers the clock
RESISTANCE = 0.0615  # K/W from die to inlet air with all fans
WARMING = 38.0  # s, time constant of heat sink and die
GOVERNOR = 6.0  # s, time constant of the driver's clock governor
CUBE = 2.4  # exponent of power over clock
EVENT_EVERY = timedelta(seconds=10)  # dcgm-exporter counts an ongoing clock event once per poll


def activity(gpu: Gpu) -> float:
    """The GPU's work, 0..1. Spinning in a collective shows 100 % utilisation and little work."""
    return min(1.0, 0.22 * gpu.utilisation / 100 + 1.25 * gpu.tensor)


def power(gpu: Gpu) -> float:
    """Watts at the current clock and work."""
    return POWER_IDLE + (POWER_MAX - POWER_IDLE) * activity(gpu) * math.pow(gpu.throttle, CUBE)


def resistance(host: Host, gpu: Gpu) -> float:
    """K/W of this slot: the second row of GPUs gets the first row's exhaust air."""
    return RESISTANCE * (1 + 0.04 * (gpu.index // 4)) / max(0.05, host.fans)


def sustainable(host: Host, gpu: Gpu) -> float:
    """The share of the full clock, 0.2..1, at which the GPU settles at the slowdown temperature."""
    watts = (SLOWDOWN - host.inlet) / resistance(host, gpu)
    work = activity(gpu)
    if work <= 0.01:
        return 1.0
    spare = (watts - POWER_IDLE) / ((POWER_MAX - POWER_IDLE) * work)
    return min(1.0, max(0.2, math.pow(max(0.0, spare), 1 / CUBE)))


def warm(host: Host, gpu: Gpu, *, seconds: float, now: datetime, rng: random.Random) -> bool:
    """Advance one GPU's temperature, clock and power by `seconds`. Return whether heat lowers its clock."""
    if gpu.dead:
        gpu.temperature += (host.inlet - gpu.temperature) * (1 - math.exp(-seconds / WARMING))
        gpu.power = gpu.clock = gpu.utilisation = gpu.tensor = 0.0
        return False
    gpu.power = power(gpu) * (1 + rng.gauss(0, 0.004))
    settles = host.inlet + resistance(host, gpu) * gpu.power
    gpu.temperature += (settles - gpu.temperature) * (1 - math.exp(-seconds / WARMING))
    wanted = sustainable(host, gpu) if gpu.temperature > SLOWDOWN - 1.5 or settles > SLOWDOWN else 1.0
    if gpu.temperature < SLOWDOWN - 1.5:
        wanted = 1.0
    if gpu.temperature > HARD_SLOWDOWN:
        wanted = min(wanted, 0.35)
    gpu.throttle += (wanted - gpu.throttle) * (1 - math.exp(-seconds / GOVERNOR))
    gpu.clock = CLOCK_MAX * gpu.throttle if gpu.pod else CLOCK_IDLE
    gpu.energy += gpu.power * seconds * 1000
    gpu.nvlink_bytes += gpu.tensor * 2.1e11 * seconds
    hot = gpu.throttle < 0.985
    if hot:
        gpu.thermal_violation += seconds * 1e9 * (1 - gpu.throttle)
        _count_events(gpu, now)
    while gpu.clock_events and now - gpu.clock_events[0][0] > gpu.window:
        gpu.clock_events.popleft()
    while gpu.xids and now - gpu.xids[0][0] > gpu.window:
        gpu.xids.popleft()
    return hot


def _count_events(gpu: Gpu, now: datetime) -> None:
    if gpu.clock_events and now - gpu.clock_events[-1][0] < EVENT_EVERY:
        return
    gpu.clock_events.append((now, "sw_thermal"))
    if gpu.temperature > HARD_SLOWDOWN:
        gpu.clock_events.append((now, "hw_thermal"))
