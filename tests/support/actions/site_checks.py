"""Checks of what the cluster shows once an action has taken effect."""

from tests.support.actions.action_row import Site
from tests.support.claimed_gpus import RULES

ASKED = {"reboot.example/now": "yes"}
APPS, BATCH = "/apis/apps/v1", "/apis/batch/v1"


async def is_cordoned(site: Site) -> bool:
    return bool((await site.node_now())["spec"].get("unschedulable"))


async def is_open(site: Site) -> bool:
    return not await is_cordoned(site)


async def is_drained(site: Site) -> bool:
    return await is_cordoned(site) and not await site.kubelets.pods(site.node)


async def is_tainted(site: Site) -> bool:
    return any(one["key"] == "gpu" for one in (await site.node_now())["spec"].get("taints") or ())


async def is_not_tainted(site: Site) -> bool:
    return not await is_tainted(site)


async def no_job(site: Site) -> bool:
    """No Job for the node is left, whether a Job names it or the scheduler places its pod there."""
    jobs = (await site.kubelets.call("GET", site.kubelets.path("jobs", api=BATCH)))["items"]
    return not [one for one in jobs if site.node in str(one["spec"]["template"]["spec"])]


async def is_rebooted(site: Site) -> bool:
    node = await site.node_now()
    asked = set(ASKED) & set(node["metadata"].get("annotations") or {})
    return node["status"]["nodeInfo"]["bootID"] == "two" and not asked


async def pod_is_gone(site: Site) -> bool:
    return not await site.pods_of_node()


async def is_fixed(site: Site) -> bool:
    found = await site.get("daemonsets", site.node, api=APPS)
    (mount,) = found["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    return bool(mount.get("mountPropagation") == "HostToContainer")


async def has_rule(site: Site) -> bool:
    found = (await site.kubelets.call("GET", RULES))["items"]
    return any(one["spec"]["deviceSelector"].get("pool") == site.node for one in found)


async def has_no_rule(site: Site) -> bool:
    return not await has_rule(site)


async def writer_is_stopped(site: Site) -> bool:
    return not (await site.get("deployments", site.node, api=APPS))["spec"]["replicas"]


async def writer_runs(site: Site) -> bool:
    return not await writer_is_stopped(site)


async def is_tested(site: Site) -> bool:
    """The Job of the suite is gone, and what keeps pods away is still there."""
    return await no_job(site) and (await is_cordoned(site) or await has_rule(site))
