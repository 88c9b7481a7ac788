"""The names in a cluster's DNS."""

from collections.abc import Mapping

from collectors.cluster.objects import Pod, Service
from collectors.dns.names import count_names
from tests.support.objects import inventory, pod, read


def service(name: str, namespace: str = "vision", **spec: str) -> Service:
    return read(Service, {"metadata": {"name": name, "namespace": namespace}, "spec": spec})


def task(number: int, subdomain: str, namespace: str = "vision", phase: str = "Running") -> Pod:
    spec: Mapping[str, str] = {"hostname": f"t-{number}", "subdomain": subdomain}
    return pod(f"{subdomain}-{number}", namespace, spec=spec, status={"phase": phase})


def test_each_service_is_a_name_but_an_alias_is_not() -> None:
    seen = inventory(service("a"), service("b", clusterIP="10.0.0.1"), service("c", type="ExternalName"))
    assert count_names(seen) == 2


def test_each_task_with_a_headless_service_of_its_own_is_one_name() -> None:
    tasks = [task(0, f"w{number}") for number in range(5)]
    assert count_names(inventory(*(service(f"w{n}", clusterIP="None") for n in range(5)), *tasks)) == 5


def test_the_pods_of_one_headless_service_are_a_name_each() -> None:
    headless = service("ring", clusterIP="None")
    running = [task(number, "ring") for number in range(1000)]
    finished = [task(number, "ring", phase="Succeeded") for number in range(1000, 1200)]
    elsewhere = [task(number, "ring", namespace="speech") for number in range(3)]
    assert count_names(inventory(headless, service("web"), *running, *finished, *elsewhere)) == 1001


def test_pods_without_a_hostname_have_no_name() -> None:
    headless = service("db", clusterIP="None")
    assert count_names(inventory(headless, *(pod(f"db-{n}", "vision") for n in range(9)))) == 1


def test_a_service_with_an_address_has_one_name_whatever_its_pods_are_called() -> None:
    seen = inventory(service("ring", clusterIP="10.0.0.1"), *(task(number, "ring") for number in range(9)))
    assert count_names(seen) == 1
