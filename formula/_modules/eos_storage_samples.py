"""How full the volumes of this minion were, and how fast that grows.

Nothing here may be called over the API. What was seen is kept in `<cachedir>/eos/storage/samples.json`, a list of
[seconds since 1970, bytes used] for each volume's id.
"""

from __future__ import annotations

import os
import time

_TAG = "eos/storage/full"
_DAY = 86400
_KEPT = 30 * _DAY
_REGARDED = 7 * _DAY
_MOST = 500
_SECONDS_BETWEEN = 60
# What fills within minutes is somebody who copies something, and says nothing of tomorrow.
_SHORTEST = 3600


def sample() -> dict:
    """Notes the use of every volume of Eos's that is mounted, and tells the master of those that are too full."""
    reported, mounts = __salt__["eos_storage.report"](), __utils__["eos_mount.table"]()
    wanted = __salt__["pillar.items"](unmask=True).get("eos", {}).get("volumes", {})
    seen = {}
    for volume in reported.volumes:
        points = __utils__["eos_mount.of_device"](mounts, volume.number)
        if points and (name := volume.tags.get("eos.volume")):
            seen[name] = (points[0].path, __utils__["eos_filesystem.usage"](points[0].path))
    samples = _noted({name: usage["used"] for name, (_, usage) in seen.items()}, time.time())
    full = {}
    for name, (path, usage) in seen.items():
        alert = wanted.get(name, {}).get("alert")
        percent = percent_full(usage)
        if alert is not None and percent >= alert:
            full[name] = {"volume": name, "path": path, "percent": percent, "alert": alert}
            full[name]["growth"] = growth(samples[name], time.time())
            __salt__["event.send"](_TAG, full[name])
    return {"volumes": sorted(seen), "full": full}


def with_growth(volumes: list[dict]) -> list[dict]:
    """These volumes as `eos_storage_report` has them, with their growth; notes their use, at most once a minute."""
    now = time.time()
    samples = _noted({one["id"]: one["used"] for one in volumes if one["id"] and one["used"] is not None}, now)
    return [
        {**one, "growth": growth(samples.get(one["id"], []), now), "samples": len(samples.get(one["id"], []))}
        for one in volumes
    ]


def percent_full(usage: dict[str, int]) -> float:
    """As `df` tells it: what is kept for root is no room."""
    room = usage["used"] + usage["available"]
    return round(100 * usage["used"] / room, 1) if room else 100.0


def growth(samples: list, now: float) -> float | None:
    """Bytes a day, by the straight line nearest to the samples of the last week; None if they say too little."""
    recent = [(at, used) for at, used in samples if at >= now - _REGARDED]
    if len(recent) < 2 or recent[-1][0] - recent[0][0] < _SHORTEST:
        return None
    middle = sum(at for at, _ in recent) / len(recent)
    mean = sum(used for _, used in recent) / len(recent)
    spread = sum((at - middle) ** 2 for at, _ in recent)
    slope = sum((at - middle) * (used - mean) for at, used in recent) / spread
    return round(slope * _DAY, 1)


def thinned(samples: list, now: float) -> list:
    """Without the old ones and, if there are too many, without every second of the older half."""
    kept = [one for one in samples if one[0] >= now - _KEPT]
    while len(kept) > _MOST:
        older = len(kept) // 2
        kept = [*kept[:older:2], *kept[older:]]
    return kept


def _noted(used: dict[str, int], now: float) -> dict[str, list]:
    with __utils__["eos_disk.locked"](f"{_path()}.lock", 10):
        samples = __utils__["eos_disk.read_json"](_path()) or {}
        changed = False
        for name, amount in used.items():
            known = samples.setdefault(name, [])
            # A clock that was set back would make samples of the future.
            known[:] = [one for one in known if one[0] <= now]
            if not known or now - known[-1][0] >= _SECONDS_BETWEEN:
                known.append([round(now, 1), amount])
                samples[name] = thinned(known, now)
                changed = True
        if changed:
            __utils__["eos_disk.write_json"](_path(), samples)
    return samples


def _path() -> str:
    return os.path.join(__opts__["cachedir"], "eos", "storage", "samples.json")
