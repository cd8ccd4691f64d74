"""What the invented companies talk about: names, things and sentences. Nothing but words."""

from __future__ import annotations

from project.companies import BRIGHTQUILL, KESTERLY, TANNHOLLOW
from project.demo.content import brightquill, kesterly, tannhollow
from project.demo.content.kinds import Content, Product

__all__ = ["CONTENT", "Content", "Product"]

CONTENT = {
    TANNHOLLOW: tannhollow.CONTENT,
    BRIGHTQUILL: brightquill.CONTENT,
    KESTERLY: kesterly.CONTENT,
}
