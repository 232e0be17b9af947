"""Finds out if the engines have come to rest: only then a dump shows the result of an operation."""

import time

from .dump import Lab


def is_of_a_run(token: dict) -> bool:
    """Each run of Terraform, and each preview of one, has a token of its own, which ends with it."""
    return token["Name"].startswith("eos ") and "/" in token["Name"]


def restless(lab: Lab) -> list[str]:
    """What still moves in Nomad, in words."""
    nomad, found = lab.nomad, []
    for one in nomad.get("/v1/acl/tokens"):
        if is_of_a_run(one):
            found.append(f"Terraform still runs with the token {one['Name']}")
    for one in nomad.get("/v1/deployments?namespace=*"):
        if one["Status"] in ("running", "pending", "initializing", "unblocking"):
            found.append(f"deployment of {one['JobID']} is {one['Status']}")
    for one in nomad.get("/v1/evaluations?namespace=*&status=pending"):
        found.append(f"evaluation of {one['JobID']} is pending")
    wanted, serving = {}, {}
    for one in nomad.get("/v1/allocations?namespace=*"):
        runs = one["ClientStatus"] in ("pending", "running")
        if one["DesiredStatus"] == "run" and one["ClientStatus"] == "running":
            wanted[one["ID"]] = one
        elif runs:
            found.append(f"allocation {one['Name']} is {one['ClientStatus']}, wanted: {one['DesiredStatus']}")
    for space in nomad.get("/v1/services?namespace=*"):
        for service in space["Services"]:
            path = f"/v1/service/{service['ServiceName']}?namespace={space['Namespace']}"
            for instance in nomad.get(path) or []:
                serving.setdefault(instance["AllocID"], []).append(service["ServiceName"])
    found += [f"{names} of an allocation that is gone" for id, names in serving.items() if id not in wanted]
    for one in wanted.values():
        job = nomad.get(f"/v1/job/{one['JobID']}?namespace={one['Namespace']}") or {"TaskGroups": []}
        for group in job["TaskGroups"]:
            own = [service for service in group["Services"] or [] if service["Provider"] == "nomad"]
            if group["Name"] == one["TaskGroup"] and len(serving.get(one["ID"], [])) != len(own):
                found.append(f"allocation {one['Name']} is not registered")
    for one in nomad.get("/v1/volumes?type=host&namespace=*"):
        if one["State"] != "ready":
            found.append(f"volume {one['Name']} is {one['State']}")
    return found + (restless_consul(lab) if lab.is_full else [])


def restless_consul(lab: Lab) -> list[str]:
    """Services that Consul has of allocations that are gone, and the other way round."""
    nomad, consul = lab.nomad, lab.consul
    running = [
        one
        for one in nomad.get("/v1/allocations?namespace=*")
        if one["ClientStatus"] == "running" and one["DesiredStatus"] == "run"
    ]
    found, serving = [], set()
    for name in consul.get("/v1/catalog/services"):
        for instance in consul.get(f"/v1/health/service/{name}"):
            id = instance["Service"]["ID"]
            if id.startswith("_nomad-task-"):
                own = [one["ID"] for one in running if one["ID"] in id]
                serving.update(own)
                found += [] if own else [f"{name} of an allocation that is gone"]
            if any(check["Status"] != "passing" for check in instance["Checks"]):
                found.append(f"{name} is not passing")
    for one in running:
        job = nomad.get(f"/v1/job/{one['JobID']}?namespace={one['Namespace']}") or {"TaskGroups": []}
        services = [s for group in job["TaskGroups"] for s in group["Services"] or [] if s["Provider"] == "consul"]
        if services and one["ID"] not in serving:
            found.append(f"allocation {one['Name']} is not registered in Consul")
    return found


def wait_for_rest(lab: Lab, seconds: float = 90):
    """Waits until nothing moves; two looks in a row, since one thing ends before the next begins."""
    ends, calm = time.monotonic() + seconds, 0
    while calm < 2:
        found = restless(lab)
        calm = 0 if found else calm + 1
        assert time.monotonic() < ends, f"not at rest within {seconds} s: {found}"
        time.sleep(0.1 if calm else 0.3)
