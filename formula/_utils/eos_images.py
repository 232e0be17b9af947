"""The images of Eos's own catalog, with the least tier of each; a test compares it with the catalog.

By digest, or by name and version where the catalog has no digest. The settings of a minion add their own.
"""

from __future__ import annotations

_TIERS = {
    "caddy:2.10": "medium",
    "grafana/grafana:11.6.0": "low",
    "jenkins/jenkins:lts": "low",
    "mattermost/mattermost-team-edition:10.11.2": "low",
    "postgres:17.6": "medium",
    "prom/alertmanager:v0.28.1": "medium",
    "prom/prometheus:v3.5.0": "medium",
    "redis:8.2": "medium",
}


def tiers() -> dict[str, str]:
    """Image -> its least tier."""
    return dict(_TIERS)
