"""The rows that the home page points at: an order with a long history, a row of an earlier schema."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from agentstore.entities import EntitySchema, UTCDateTime
from agentstore.entities.codec import Codec
from project.companies import TANNHOLLOW
from project.demo.timeline import Life, ago
from project.desk.models import Order, Reminder

__all__ = ["CUSTOMER", "EARLIER_TEXT", "showpieces"]

CUSTOMER = "Lind & Marrow Pianos"
EARLIER_TEXT = "Renew the tariff extract for chapter 94"

_PIANO = {"sku": "PN-0417", "description": "Upright piano, walnut", "unit_price": "2450.00"}
_BOXES = {"sku": "BX-22", "description": "Moving box, double wall", "unit_price": "2.35", "quantity": 20}
_FILM = {"sku": "ST-9", "description": "Stretch film, 500 mm", "unit_price": "11.90", "quantity": 6}
_ADDRESS = {"street": "Old Quay 41", "postcode": "28195", "city": "Tannhollow"}
_LIFT = "Lift is out of order."
_MORE = "Customer wants the late slot; the door code is with dispatch."


class EarlierReminder(EntitySchema):
    """Reminders before the channels were fixed: any word was one."""

    text: str
    due_at: UTCDateTime
    done: bool = False
    channel: str = "email"


def showpieces(tenant: str, now: datetime) -> list[Life]:
    """Return the lives of the rows that the home page points at."""
    return [piano_order(now), earlier_reminder(now)] if tenant == TANNHOLLOW else []


def piano_order(now: datetime) -> Life:
    """Return an order with everything in its history: seven versions, a deletion and its undoing."""
    born = (now - timedelta(days=3)).replace(hour=11, minute=2)
    due = (now + timedelta(days=2)).replace(hour=10, minute=0, second=0, microsecond=0)
    data = {
        "customer": CUSTOMER,
        "deliver_by": due.isoformat(),
        "express": False,
        "ship_to": _ADDRESS,
        "lines": [_PIANO, _BOXES],
        "tags": ["piano"],
    }
    life = Life(Order.store(TANNHOLLOW)).add(
        born, "create", "agent:bia", reason="order taken by chat", data=data
    )
    life.add(born + timedelta(minutes=4), "update", "agent:bia", data={"note": _LIFT})
    street = {"ship_to": {**_ADDRESS, "street": "Old Quay 14"}}
    life.add(born + timedelta(minutes=18), "update", "user:tobi", reason="typing error", data=street)
    confirmed: dict[str, Any] = {"data": {"status": "confirmed"}, "unset": ("express",)}
    life.add(born.replace(hour=17, minute=30), "update", "user:tobi", **confirmed)
    lines = {"lines": [_PIANO, {**_BOXES, "quantity": 40}, _FILM]}
    answered = "customer answered the packing list"
    answered_at = (now - timedelta(days=2)).replace(hour=9, minute=7)
    life.add(answered_at, "update", "agent:bia", reason=answered, data=lines)
    deleted = (now - timedelta(days=1)).replace(hour=16, minute=41)
    life.add(deleted, "delete", "user:maren", reason="duplicate of TF-20388")
    life.add(deleted, "undelete", "user:maren", reason="deleted the wrong order")
    tags = {"tags": ["piano", "two-person-lift"]}
    life.add(ago(now, hours=4), "update", "user:tobi", data=tags)
    late = due.replace(hour=16, minute=30).isoformat()
    moved = {"status": "on hold", "deliver_by": late, "note": f"{_LIFT} {_MORE}"}
    return life.add(
        ago(now, minutes=18),
        "update",
        "agent:bia",
        reason="customer moved the slot by phone",
        data=moved,
    )


def earlier_reminder(now: datetime) -> Life:
    """Return a reminder whose channel is no longer allowed."""
    due = (now + timedelta(days=2)).replace(hour=10, minute=0, second=0, microsecond=0)
    data = {"text": EARLIER_TEXT, "due_at": due.isoformat(), "channel": "fax"}
    store = Reminder.store(TANNHOLLOW)
    store.codec = Codec(EarlierReminder, "reminders", ())  # as an earlier release of this project had it
    return Life(store).add(now - timedelta(days=5), "create", "agent:customs", data=data)
