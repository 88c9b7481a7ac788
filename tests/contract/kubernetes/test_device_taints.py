"""Rules that taint devices, of the look-alike and of a real API server."""

from tests.contract.kubernetes.api import Api

RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"


def a_rule(name: str, **taint: str) -> dict[str, object]:
    selector = {"driver": "gpu.example.com", "pool": name, "device": "gpu-3"}
    return {"metadata": {"name": name}, "spec": {"deviceSelector": selector, "taint": taint}}


async def test_a_rule_is_served_in_its_beta_version(api: Api) -> None:
    name = f"{api.space}-rule"
    api.undo.append(f"{RULES}/{name}")
    made = await api.call("POST", RULES, a_rule(name, key="example.com/bad", effect="NoSchedule"))
    assert (made.code, made.body["apiVersion"]) == (201, "resource.k8s.io/v1beta2")
    assert made.body["spec"]["deviceSelector"]["device"] == "gpu-3"
    assert name in (await api.get(RULES)).names
    gone = await api.call("DELETE", f"{RULES}/{name}")
    assert (gone.code, gone.body["kind"]) == (200, "DeviceTaintRule")
    assert (await api.get(f"{RULES}/{name}")).code == 404


async def test_an_effect_that_is_not_known_is_refused(api: Api) -> None:
    refused = await api.call("POST", RULES, a_rule(f"{api.space}-bad", key="example.com/bad", effect="Never"))
    assert (refused.code, refused.cause["field"]) == (422, "spec.taint.effect")
