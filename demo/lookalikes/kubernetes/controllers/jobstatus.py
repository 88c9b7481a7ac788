"""The outcome of a Job's pods: index lists, failure policies and success policies."""

from dataclasses import dataclass

from demo.lookalikes.kubernetes.controllers.podmaking import active
from demo.lookalikes.kubernetes.objects import Json, dig, name_of, namespace_of

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a count: the completed indexes, and why a failure policy stopped the job, or None."""

    done: frozenset[int]
    stopped: Json | None


def indexes_of(text: str) -> set[int]:
    """Return the indexes of a text such as `1,3-5`."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def indexes_text(indexes: set[int]) -> str:
    """Return indexes in the format of the API: three or more in a row as a range, `1,2,4-6`."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)


def failure_of(job: Json, pod: Json) -> tuple[str, str]:
    """Return the action of the job's failure policy for a failed pod, and its text."""
    for index, rule in enumerate(dig(job, "spec", "podFailurePolicy", "rules") or ()):
        match = f"matching {rule['action']} rule at index {index}"
        if codes := rule.get("onExitCodes"):
            for status in dig(pod, "status", "containerStatuses") or ():
                code = dig(status, "state", "terminated", "exitCode")
                if code in (None, 0) or codes.get("containerName") not in (None, status.get("name")):
                    continue
                if (code in codes["values"]) is (codes["operator"] == "In"):
                    pod_name = f"{namespace_of(pod)}/{name_of(pod)}"
                    text = (
                        f"Container {status['name']} for pod {pod_name} failed with exit code {code} {match}"
                    )
                    return rule["action"], text
        for wanted in rule.get("onPodConditions") or ():
            for found in dig(pod, "status", "conditions") or ():
                if found["type"] == wanted["type"] and found["status"] == wanted.get("status", "True"):
                    pod_name = f"{namespace_of(pod)}/{name_of(pod)}"
                    return rule["action"], f"Pod {pod_name} has condition {found['type']} {match}"
    return "Count", ""


def success_of(job: Json, status: Json, outcome: Outcome, pods: list[Json]) -> Json | None:
    """Return the success condition when enough pods have succeeded, or None."""
    completions, succeeded = dig(job, "spec", "completions"), status.get("succeeded", 0)
    for index, rule in enumerate(dig(job, "spec", "successPolicy", "rules") or ()):
        candidates = (
            indexes_of(rule["succeededIndexes"])
            if rule.get("succeededIndexes")
            else set(range(completions or 0))
        )
        if len(outcome.done & candidates) >= rule.get("succeededCount", len(candidates)):
            text = f"Matched rules at index {index}"
            return {"type": "SuccessCriteriaMet", "reason": "SuccessPolicy", "message": text}
    is_enough = (
        succeeded > 0 and not any(map(active, pods)) if completions is None else succeeded >= completions
    )
    if not is_enough:
        return None
    text = "Reached expected number of succeeded pods"
    return {"type": "SuccessCriteriaMet", "reason": "CompletionsReached", "message": text}
