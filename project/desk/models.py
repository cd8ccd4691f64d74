"""What agents at a front desk keep: reminders, contacts, orders and notes."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import StrEnum

from pydantic import Field

from agentstore.entities import EntityModel, EntitySchema, UTCDateTime
from project.companies import KESTERLY

__all__ = ["Contact", "Note", "Order", "Reminder"]


class Channel(StrEnum):
    """How somebody wants to be reached."""

    CALL = "call"
    EMAIL = "email"
    CHAT = "chat"


class ReminderData(EntitySchema):
    """One thing that is to be done in time."""

    text: str = Field(min_length=1, max_length=500, description="What is to be done.")
    due_at: UTCDateTime = Field(title="due")
    done: bool = False
    channel: Channel = Channel.EMAIL


class Reminder(EntityModel):
    """Scheduled reminders for the user: what is to be done, until when, and over which channel."""

    Schema = ReminderData

    class Entity:
        name = "reminders"
        indexes = ["due_at", "done", "channel"]


class ContactData(EntitySchema):
    """One person."""

    name: str = Field(min_length=1, max_length=200)
    company: str = Field(default="", max_length=200)
    email: str | None = None
    phone: str | None = None
    reach_by: Channel = Field(default=Channel.CALL, description="How they like to be reached.")
    since: date | None = Field(default=None, description="Day of the first business with them.")
    newsletter: bool | None = Field(default=None, description="Unknown when they were not asked.")


class Contact(EntityModel):
    """People the user deals with, and how to reach them."""

    Schema = ContactData

    class Entity:
        name = "contacts"
        indexes = ["name", "company", "since"]


class Status(StrEnum):
    """How far an order has come."""

    DRAFT = "draft"
    CONFIRMED = "confirmed"
    ON_HOLD = "on hold"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"


class Address(EntitySchema):
    """Where something goes."""

    street: str
    postcode: str
    city: str


class Line(EntitySchema):
    """One position of an order."""

    sku: str = Field(title="SKU")
    description: str
    quantity: int = Field(default=1, ge=1, le=1_000_000)
    unit_price: Decimal = Decimal("0.00")


class OrderData(EntitySchema):
    """One order with its lines."""

    customer: str = Field(min_length=1, max_length=200, description="Name on the delivery note.")
    deliver_by: UTCDateTime
    express: bool | None = Field(default=None, description="Unknown when the customer was not asked.")
    status: Status = Status.DRAFT
    tags: list[str] = Field(default=[], description="One word or short phrase each.")
    note: str = ""
    ship_to: Address
    lines: list[Line] = []


class Order(EntityModel):
    """Orders of customers: what they want, where it goes, until when, and how far it has come."""

    Schema = OrderData

    class Entity:
        name = "orders"
        indexes = ["customer", "deliver_by", "status"]


class NoteData(EntitySchema):
    """One note."""

    title: str = Field(min_length=1, max_length=200)
    text: str = ""
    tags: list[str] = []
    pinned: bool = False


def note_places(tenant: str) -> int:
    """Return how many notes a tenant may keep: Kesterly Travel has the small plan."""
    return 60 if tenant == KESTERLY else 10_000


class Note(EntityModel):
    """Notes that should not be forgotten, with tags to find them again."""

    Schema = NoteData

    class Entity:
        name = "notes"
        indexes = ["title", "pinned"]
        max_rows_per_tenant = note_places
