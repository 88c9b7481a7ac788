"""This file is heat: work makes watts, watts and bad cooling make degrees, degrees take the clock down."""

from __future__ import annotations

import math
import random
from datetime import datetime, timedelta

from demo.world.state import CLOCK_IDLE, CLOCK_MAX, POWER_IDLE, POWER_MAX, Gpu, Host

SLOWDOWN = 87.0  # °C: the driver lowers the clock to stay here
HARD_SLOWDOWN = 92.0  # °C: the hardware cuts the clock by itself
RESISTANCE = 0.0615  # K/W from die to inlet air, all fans turning
WARMING = 38.0  # s, time constant of heat sink and die
GOVERNOR = 6.0  # s, how fast the driver moves the clock
CUBE = 2.4  # watts grow with the clock to this power
EVENT_EVERY = timedelta(seconds=10)  # dcgm-exporter counts a clock event once for each look it takes


def activity(gpu: Gpu) -> float:
    """How hard the chip works, 0..1. Spinning in a collective shows 100 % utilisation and little work."""
    return min(1.0, 0.22 * gpu.utilisation / 100 + 1.25 * gpu.tensor)


def power(gpu: Gpu) -> float:
    """Watts at the present clock and work."""
    return POWER_IDLE + (POWER_MAX - POWER_IDLE) * activity(gpu) * math.pow(gpu.throttle, CUBE)


def resistance(host: Host, gpu: Gpu) -> float:
    """K/W of this place in this server: the second row breathes the first row's air."""
    return RESISTANCE * (1 + 0.04 * (gpu.index // 4)) / max(0.05, host.fans)


def bearable(host: Host, gpu: Gpu) -> float:
    """The share of the full clock at which the chip would settle at the slowdown temperature, 0.2..1."""
    watts = (SLOWDOWN - host.inlet) / resistance(host, gpu)
    work = activity(gpu)
    if work <= 0.01:
        return 1.0
    spare = (watts - POWER_IDLE) / ((POWER_MAX - POWER_IDLE) * work)
    return min(1.0, max(0.2, math.pow(max(0.0, spare), 1 / CUBE)))


def warm(host: Host, gpu: Gpu, *, seconds: float, now: datetime, rng: random.Random) -> bool:
    """Move one GPU's temperature, clock and power on by `seconds`. True when its clock is held down by heat."""
    if gpu.dead:
        gpu.temperature += (host.inlet - gpu.temperature) * (1 - math.exp(-seconds / WARMING))
        gpu.power = gpu.clock = gpu.utilisation = gpu.tensor = 0.0
        return False
    gpu.power = power(gpu) * (1 + rng.gauss(0, 0.004))
    settles = host.inlet + resistance(host, gpu) * gpu.power
    gpu.temperature += (settles - gpu.temperature) * (1 - math.exp(-seconds / WARMING))
    wanted = bearable(host, gpu) if gpu.temperature > SLOWDOWN - 1.5 or settles > SLOWDOWN else 1.0
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
