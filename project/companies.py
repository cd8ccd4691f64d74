"""The three invented companies whose agents' work fills the demo. Pure Python."""

from __future__ import annotations

__all__ = ["BRIGHTQUILL", "COMPANIES", "KESTERLY", "TANNHOLLOW"]

TANNHOLLOW = "tannhollow"
BRIGHTQUILL = "brightquill"
KESTERLY = "kesterly"

#: Tenant -> the name that people read.
COMPANIES = {
    TANNHOLLOW: "Tannhollow Freight",
    BRIGHTQUILL: "Brightquill Dental",
    KESTERLY: "Kesterly Travel",
}
