"""The indexes of a snapshot are what a scan of all its objects gives, after any changes."""

from hypothesis import given
from hypothesis import strategies as st

from collectors.cluster.indexes import by_node, by_owner_of_pod
from collectors.cluster.kinds import PODS
from collectors.cluster.object_store import ObjectStore, Snapshot
from collectors.cluster.objects import Pod
from tests.support.objects import NOW, owned, pod

NODES, OWNERS = ("", "n1", "n2"), ("", "a", "b")
CHANGES = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from((*NODES, "gone")), st.sampled_from(OWNERS), st.booleans())
)


def a_pod(number: int, node: str, owner: str) -> Pod:
    owners = owned("Job", owner) if owner else []
    return pod(f"p{number}", spec={"nodeName": node}, ownerReferences=owners)


def check(snapshot: Snapshot[Pod]) -> None:
    for index, keys in ((by_node, NODES), (by_owner_of_pod, [f"default/Job/{name}" for name in OWNERS])):
        for key in keys:
            scanned = [one for one in snapshot.objects.values() if key in index(one)]
            indexed = snapshot.indexes[index].get(key, ())
            assert sorted(one.key for one in indexed) == sorted(one.key for one in scanned)
            assert all(snapshot.objects[one.key] is one for one in indexed)


@given(CHANGES)
def test_an_index_equals_a_scan(changes: list[tuple[int, str, str, bool]]) -> None:
    store = ObjectStore(PODS)
    taken: list[tuple[Snapshot[Pod], dict[str, Pod]]] = []
    for number, node, owner, is_taken in changes:
        if node == "gone":
            store.remove(f"default/p{number}")
        else:
            store.put(f"default/p{number}", a_pod(number, node, owner))
        if is_taken:
            snapshot = store.snapshot(NOW)
            taken.append((snapshot, dict(snapshot.objects)))
    taken.append((store.snapshot(NOW), dict(store.snapshot(NOW).objects)))
    for snapshot, objects in taken:  # later changes do not change an earlier snapshot
        assert dict(snapshot.objects) == objects
        check(snapshot)


def test_what_did_not_change_is_the_same_object_in_the_next_snapshot() -> None:
    store = ObjectStore(PODS)
    store.put("default/p1", a_pod(1, "n1", ""))
    store.put("default/p2", a_pod(2, "n2", ""))
    before = store.snapshot(NOW)
    store.put("default/p2", a_pod(2, "n2", "a"))
    after = store.snapshot(NOW)
    assert after.indexes[by_node]["n1"] is before.indexes[by_node]["n1"]
    assert after.indexes[by_node]["n2"] is not before.indexes[by_node]["n2"]
    assert store.snapshot(NOW).objects is after.objects
