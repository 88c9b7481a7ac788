"""Derived values are kept from one snapshot to the next while what they are derived from is the same."""

from collectors.cluster.memo import Memo


def test_a_value_is_kept_while_its_parts_are_the_same_objects() -> None:
    pods, made = (object(), object()), list[int]()

    def derive() -> int:
        made.append(len(made))
        return made[-1]

    memo = Memo()
    assert memo.get("gpus", (pods,), derive) == 0
    assert Memo(memo).get("gpus", (pods,), derive) == 0
    assert Memo(memo).get("gpus", ((object(),),), derive) == 1
    assert Memo(memo).get("gpus", (pods, pods), derive) == 2


def test_a_value_outlives_snapshots_in_which_nobody_needs_it_and_is_forgotten_in_the_end() -> None:
    """Rules run once a minute, and there may be a snapshot each second."""
    memo = Memo(kept_for=10)
    memo.get("gpus", ("a",), lambda: 1)
    for _ in range(9):
        memo = Memo(memo, kept_for=10)
    assert memo.get("gpus", ("a",), lambda: 2) == 1
    for _ in range(30):
        memo = Memo(memo, kept_for=10)
    assert memo.get("gpus", ("a",), lambda: 3) == 3
