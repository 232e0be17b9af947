"""Moves the Terraform state of a workspace from one backend to another; killed at any instant, it goes on or returns.

Nothing here may be called over the API; `eos_terraform` calls it, under the lock of the workspace. `backend.json` of
the workspace says where the Terraform state is, and everybody reads it there. In the middle of a move it has

- `copying`: the state is still in `place`; the place that is named here may have a copy, or a part of none;
- `left`: the state is in `place`; the place that is named here may still have the one before.

Both name serial, lineage and digest. So a copy is told from anything else, which stays untouched.
"""

from __future__ import annotations

from salt.exceptions import CommandExecutionError


def settle(run: object, wanted: dict | None) -> None:
    """Ends a move that was interrupted, then moves the Terraform state to the wanted place; None: wherever it is."""
    workspace = run.workspace
    if workspace.recorded_place() is None:
        if wanted is None:
            return
        _begin(run, wanted)
    _retire(run)
    record = workspace.recorded_place()
    if wanted not in (None, record["place"]):
        _move(run, record, wanted)
        _retire(run)
    elif "copying" in record:
        _withdraw(run, record)


def _begin(run: object, wanted: dict) -> None:
    """The first record. A workspace without one is where its Terraform state is, or else where it is wanted."""
    workspace, name = run.workspace, run.workspace.name
    place = workspace.place()
    if place != wanted and _backend(run, wanted).read(name) != (None, None):
        words = f"There are two Terraform states, {_where(run, place)} and {_where(run, wanted)}"
        hint = f"Compare them and remove one; or write {workspace.place_file}: " + '{"place": {"kind": ...}}'
        raise __utils__["eos_failure.of"]("terraform", name, words, hint)
    workspace.record_place({"place": place})


def _move(run: object, record: dict, wanted: dict) -> None:
    workspace, name = run.workspace, run.workspace.name
    old, new = _backend(run, record["place"]), _backend(run, wanted)
    run.require_lock()
    workspace.wait_for_lock(old)
    workspace.wait_for_lock(new)
    state = workspace.state()
    facts = state and _facts(state)
    has_copy = _refuse_another(run, record, new, facts)
    if state is None:
        workspace.record_place({"place": wanted})
        return
    run.tell(f"{name}: moving the Terraform state from {old.where(name)} to {new.where(name)}")
    __utils__["eos_disk.write_json"](workspace.moved_state_file(old.kind, facts["serial"]), state)
    workspace.record_place({"place": record["place"], "copying": {"to": wanted, **facts}})
    if not has_copy:
        new.create(name, state)
    if _found(new, name) != facts:
        words = f"The copy of the Terraform state {new.where(name)} is not as it was written"
        raise __utils__["eos_failure.of"]("terraform", name, words, "Run the step again")
    if _found(old, name) != facts or ((lock := old.lock(name)) and lock["held"]):
        words = f"Somebody changed the Terraform state {old.where(name)} while it was moved"
        raise __utils__["eos_failure.of"]("terraform", name, words, "Run the step again")
    run.require_lock()
    workspace.record_place({"place": wanted, "left": {"in": record["place"], **facts}})


def _refuse_another(run: object, record: dict, new: object, facts: dict | None) -> bool:
    """Whether the new place has the copy already; a Terraform state that is none of this workspace's is refused."""
    name = run.workspace.name
    there, fault = new.read(name)
    if there is None and fault is None:
        return False
    found = there and _facts(there)
    if facts is not None and found == facts:
        return True
    if found is not None and found == _without(record.get("copying"), "to"):
        # The copy of an earlier attempt, since when the state has moved on.
        new.remove(name)
        return False
    words = f"There is another Terraform state {new.where(name)}: this one would hide it"
    if fault:
        words = f"The Terraform state {fault}, where that of the workspace is wanted"
    hint = f'Look at it, then remove it, or keep [terraform] backend = "{record["place"]["kind"]}" in eos.toml'
    raise __utils__["eos_failure.of"]("terraform", name, words, hint)


def _retire(run: object) -> None:
    """Removes the Terraform state from the place that it left; the workspace keeps a copy."""
    workspace, name = run.workspace, run.workspace.name
    record = workspace.recorded_place()
    left = record.get("left")
    if left is None:
        return
    old = _backend(run, left["in"])
    workspace.wait_for_lock(old)
    found = _found(old, name)
    if found is not None and found != _without(left, "in"):
        now = _where(run, record["place"])
        words = f"Somebody changed the Terraform state {old.where(name)} after it moved to {now}"
        raise __utils__["eos_failure.of"]("terraform", name, words, "Compare both, then remove the former")
    if found is not None:
        run.require_lock()
        old.remove(name)
    workspace.record_place({"place": record["place"]})


def _withdraw(run: object, record: dict) -> None:
    """Removes the copy of a move that is not wanted any more. A place that does not answer keeps it until later."""
    name, copying = run.workspace.name, record["copying"]
    try:
        new = _backend(run, copying["to"])
        if _found(new, name) == _without(copying, "to"):
            run.require_lock()
            new.remove(name)
    except CommandExecutionError as failure:
        run.tell(f"{name}: the copy of the Terraform state is not removed: {failure.error}")
        return
    run.workspace.record_place({"place": record["place"]})


def _found(backend: object, name: str) -> dict | None:
    state, fault = backend.read(name)
    if fault:
        raise __utils__["eos_failure.of"]("terraform", name, f"The Terraform state {fault}", "Run the step again")
    return state and _facts(state)


def _facts(state: dict) -> dict:
    return {"serial": state["serial"], "lineage": state["lineage"], "digest": __utils__["eos_digest.of_json"](state)}


def _without(facts: dict | None, key: str) -> dict | None:
    return facts and {name: value for name, value in facts.items() if name != key}


def _backend(run: object, place: dict) -> object:
    return __salt__["eos_backend.of"](place, run.profile)


def _where(run: object, place: dict) -> str:
    return _backend(run, place).where(run.workspace.name)
