"""Times within which the tasks of a gang get their nodes, and what is usual for gangs of its size. Pure."""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta

from collectors.trainings.training import Training

FEWEST = 5  # gangs, to say what is usual
SHARE = 0.95
LONGEST = timedelta(hours=2)  # what is usual excuses no longer wait


def usually_placed_within(training: Training, trainings: Iterable[Training]) -> timedelta | None:
    """Return within which time nearly all gangs of its size had a node for each task; None if few are known.

    Its like want half as many to twice as many GPUs.
    """
    least, most = training.gpus_wanted / 2, training.gpus_wanted * 2
    like = (one for one in trainings if one.id != training.id and least <= one.gpus_wanted <= most)
    times = sorted(time for one in like if (time := _placed_within(one)) is not None)
    if len(times) < FEWEST:
        return None
    return min(times[math.ceil(SHARE * len(times)) - 1], LONGEST)


def placed_since(training: Training) -> datetime | None:
    """Return since when its first task has a node."""
    starts = [rank.started for rank in training.ranks if rank.node and rank.started is not None]
    return min(starts, default=training.created)


def _placed_within(training: Training) -> timedelta | None:
    """Return the time from the first task with a node to the last; None if not all had one, or some started again."""
    ranks = training.ranks
    starts = [rank.started for rank in ranks if rank.node and rank.started is not None]
    has_restarted = training.restarts or training.failures or any(rank.restarts for rank in ranks)
    if len(starts) < 2 or len(starts) < training.wanted or has_restarted:
        return None
    return max(starts) - min(starts)
