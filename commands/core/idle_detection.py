"""The search for idle GPUs now: asks what the check of idle GPUs asks, over any window."""

import asyncio
from datetime import datetime, timedelta

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind
from collectors.gpu_activity import MEMORY, IdleSearch, activity, classify_pods, newest
from commands.core.context import Cluster


async def find_idle(cluster: Cluster, *, now: datetime, after: timedelta) -> IdleSearch:
    """Query the activity of every GPU in the window that ends now. Raises SourceError without an inventory."""
    inventory = cluster.inventory()
    queries = activity(after), PromQLQuery(expr=newest(MEMORY), of_pack=True)
    answer, memory = await asyncio.gather(*(cluster.query(query, at=now) for query in queries))
    if isinstance(answer, Blind):
        return IdleSearch(at=now, after=after, blind=answer.reason)
    return classify_pods(inventory, answer, memory=memory, now=now, after=after)
