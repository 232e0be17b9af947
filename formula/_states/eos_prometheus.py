"""The Salt state of a component's alert rules, named "<environment>/<component>".

It serves whoever applies the emitted tree by hand; `eos.make` does the same without a state run.
"""

from __future__ import annotations


def rules(name: str) -> dict:
    """The Prometheus of this minion that watches the component has its rules loaded, as the pillar says."""
    pillar = __pillar__.get("eos", {})
    if name not in pillar.get("monitoring", {}):
        return {"name": name, "changes": {}, "result": False, "comment": "The pillar names no rules of it"}
    if __opts__["test"]:
        changes = __salt__["eos_prometheus.would_load"](name, pillar)
        comment = "Prometheus would load the rules" if changes else "The rules are there"
        return {"name": name, "changes": changes, "result": None if changes else True, "comment": comment}
    with __salt__["eos_prometheus.lock"]():
        answer = __salt__["eos_prometheus.load"](name, pillar)
    error = answer["error"]
    comment = f"{error['layer']}: {error['object']}: {error['words']}" if error else "Prometheus has loaded the rules"
    return {"name": name, "changes": answer["changes"], "result": not error, "comment": comment, "error": error}
