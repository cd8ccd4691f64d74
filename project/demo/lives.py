"""Invents the lives of a company's rows: who made them, what happened to them since, and why."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from agentstore.entities.store import EntityStore
from project.demo.content import CONTENT
from project.demo.timeline import Life
from project.desk.models import Contact, Note, Order, Reminder

__all__ = ["Author"]

#: How many days back the oldest rows go.
DAYS = 45
CHANNELS = ("email", "call", "chat")


class Author:
    """Writes the lives of one company's rows; the same ones for the same tenant and time."""

    def __init__(self, tenant: str, now: datetime) -> None:
        self.tenant, self.now = tenant, now
        self.words = CONTENT[tenant]
        self.rng = random.Random(tenant)  # noqa: S311 - invents data, guards nothing
        self.told: set[str] = set()

    def lives(self) -> Iterator[Life]:
        """Yield every life, in no order."""
        for _ in range(self.words.reminders):
            yield self.reminder()
        for name in self.words.contacts:
            yield self.contact(name)
        for _ in range(self.words.orders):
            yield self.order()
        yield from self.notes()

    # --- dice -------------------------------------------------------------------------------

    def agent(self) -> str:
        """Return one of the company's agents."""
        return f"agent:{self.rng.choice(self.words.agents)}"

    def person(self) -> str:
        """Return one of the company's people."""
        return f"user:{self.rng.choice(self.words.people)}"

    def anyone(self) -> str:
        """Return an agent, or now and then one of the people."""
        return self.agent() if self.chance(0.7) else self.person()

    def chance(self, share: float) -> bool:
        """Be True in ``share`` of the cases."""
        return self.rng.random() < share

    def day(self, oldest: float, newest: float = 0) -> datetime:
        """Return a moment of a working day, between so many days ago; never one that is still to come."""
        at = self.at_work(self.now - timedelta(days=self.rng.uniform(newest, oldest)))
        return at if at <= self.now else at - timedelta(days=1)

    def later(self, at: datetime, most: float) -> datetime:
        """Return a moment of a working day within ``most`` days after ``at``."""
        return max(self.at_work(at + timedelta(days=self.rng.uniform(0.02, most))), at + timedelta(minutes=4))

    def at_work(self, at: datetime) -> datetime:
        """Return a moment of the same day between 7:30 and 18:30."""
        minute = self.rng.randrange(7 * 60 + 30, 18 * 60 + 30)
        second, microsecond = self.rng.randrange(60), self.rng.randrange(10**6)
        return at.replace(hour=minute // 60, minute=minute % 60, second=second, microsecond=microsecond)

    def new(self, write: Callable[[], str]) -> str:
        """Return a text that this author has not used yet, where that can be had."""
        for _ in range(20):
            text = write()
            if text not in self.told:
                break
        self.told.add(text)
        return text

    def sentence(self) -> str:
        """Return a task with a customer or contact and a thing filled in."""
        return self.rng.choice(self.words.tasks).format(
            customer=self.rng.choice(self.words.customers),
            contact=self.rng.choice(self.words.contacts),
            thing=self.rng.choice(self.words.things),
        )

    def begin(self, model: Any, at: datetime, actor: str, data: dict[str, Any], reason: str = "") -> Life:
        """Return a life that begins with ``data``."""
        store: EntityStore[Any] = model.store(self.tenant)
        return Life(store).add(at, "create", actor, data=data, reason=reason)

    # --- rows -------------------------------------------------------------------------------

    def reminder(self) -> Life:
        """Return a reminder: put off, done, deleted, or still open."""
        born = self.day(DAYS)
        due = self.later(born, 16).replace(second=0, microsecond=0)
        due = due.replace(minute=due.minute // 30 * 30)
        data = {
            "text": self.new(self.sentence),
            "due_at": due.isoformat(),
            "channel": self.rng.choice(CHANNELS),
        }
        life = self.begin(
            Reminder, born, self.agent(), data, "asked for in a chat" if self.chance(0.5) else ""
        )
        last = born
        if self.chance(0.3):
            last, due = self.later(born, 3), due + timedelta(days=self.rng.randrange(1, 9))
            life.add(
                last,
                "update",
                self.anyone(),
                reason="not reached, try later",
                data={"due_at": due.isoformat()},
            )
        if self.chance(0.15):
            last = self.later(last, 2)
            channel = self.rng.choice([other for other in CHANNELS if other != data["channel"]])
            life.add(last, "update", self.person(), data={"channel": channel})
        overdue = self.now - due
        if overdue > timedelta() and self.chance(0.98 if overdue > timedelta(days=2) else 0.75):
            life.add(
                max(due, last) + timedelta(minutes=self.rng.randrange(5, 300)),
                "update",
                self.anyone(),
                data={"done": True},
            )
        elif self.chance(0.12):
            life.add(self.later(last, 4), "delete", self.person(), reason="no longer needed")
        return life

    def contact(self, name: str) -> Life:
        """Return a contact whose address was completed, corrected, and perhaps deleted."""
        born, first = self.day(DAYS, 5), name.split()[0].lower()
        data = {
            "name": name,
            "reach_by": self.rng.choice(CHANNELS),
            "phone": f"+49 30 555 {self.rng.randrange(10000):04}",
        }
        if self.chance(0.6):
            data["company"] = self.rng.choice(self.words.customers)
        if self.chance(0.7):
            data["since"] = (born - timedelta(days=self.rng.randrange(30, 3000))).date().isoformat()
        life = self.begin(Contact, born, self.agent(), data, "introduced by mail")
        second = self.later(born, 6)
        life.add(second, "update", self.agent(), data={"email": f"{first}@mail.example"})
        if self.chance(0.3):
            fixed = {"email": f"{first}.{len(name)}@post.example"}
            life.add(
                self.later(second, 8), "update", self.person(), reason="the old address bounced", data=fixed
            )
        if self.chance(0.4):
            life.add(self.later(second, 10), "update", self.agent(), data={"newsletter": self.chance(0.5)})
        if self.chance(0.06):
            life.add(self.later(second, 12), "delete", self.person(), reason="twice in the list")
        return life

    def line(self) -> dict[str, Any]:
        """Return one position of an order."""
        product = self.rng.choice(self.words.products)
        line = {"sku": product.sku, "description": product.description, "unit_price": product.price}
        return {**line, "quantity": self.rng.randint(1, product.most)}

    def order(self) -> Life:
        """Return an order somewhere on its way from draft to delivery."""
        born = self.day(DAYS)
        due = self.later(born + timedelta(days=2), 14).replace(minute=0, second=0, microsecond=0)
        postcode, city = self.rng.choice(self.words.places)
        street = f"{self.rng.choice(self.words.streets)} {self.rng.randrange(1, 90)}"
        lines = [self.line() for _ in range(self.rng.randrange(1, 4))]
        data = {
            "customer": self.rng.choice(self.words.customers),
            "deliver_by": due.isoformat(),
            "ship_to": {"street": street, "postcode": postcode, "city": city},
            "lines": lines,
            "tags": self.rng.sample(self.words.tags, self.rng.randrange(3)),
        }
        life = self.begin(Order, born, self.agent(), data, "order taken by chat")
        last = born
        if self.chance(0.4):
            last = self.later(last, 1)
            life.add(
                last,
                "update",
                self.agent(),
                reason="customer answered",
                data={"lines": [*lines, self.line()]},
            )
        if self.chance(0.3):
            last = self.later(last, 1)
            life.add(last, "update", self.person(), data={"note": self.rng.choice(self.words.lessons)})
        if self.chance(0.25):
            life.add(last + timedelta(minutes=9), "update", self.anyone(), data={"express": self.chance(0.6)})
        return self._deliver(life, last, due)

    def _deliver(self, life: Life, last: datetime, due: datetime) -> Life:
        if self.chance(0.08):
            return life.add(
                self.later(last, 3),
                "update",
                self.person(),
                reason="customer called",
                data={"status": "cancelled"},
            )
        if self.chance(0.05):
            return life.add(self.later(last, 3), "delete", self.person(), reason="entered twice")
        confirmed = self.later(last, 2)
        life.add(confirmed, "update", self.person(), data={"status": "confirmed"})
        if self.chance(0.1):
            return life.add(
                confirmed + timedelta(hours=3),
                "update",
                self.agent(),
                reason="payment is missing",
                data={"status": "on hold"},
            )
        shipped = max(confirmed + timedelta(hours=2), due - timedelta(hours=self.rng.randrange(2, 30)))
        life.add(shipped, "update", self.agent(), data={"status": "shipped"})
        return life.add(
            max(due, shipped + timedelta(hours=1)),
            "update",
            self.agent(),
            reason="signed for",
            data={"status": "delivered"},
        )

    def notes(self) -> Iterator[Life]:
        """Yield notes; of the old ones some were deleted, which made room for the newest."""
        deleted = max(2, self.words.notes // 11)
        for number in range(self.words.notes - deleted):
            life, last = self.note(self.day(DAYS, 10))
            if number < deleted:
                life.add(
                    min(self.later(last, 1), self.now - timedelta(days=6)),
                    "delete",
                    self.person(),
                    reason="out of date",
                )
            yield life
        for _ in range(deleted):
            yield self.note(self.day(5))[0]

    def note(self, born: datetime) -> tuple[Life, datetime]:
        """Return a note that was written, added to and perhaps pinned, and when that was."""
        about = self.rng.choice((*self.words.customers, *self.words.contacts))
        title = f"{about}: {self.rng.choice(self.words.things)}"
        text = self.rng.choice(self.words.lessons)
        life = self.begin(
            Note,
            born,
            self.agent(),
            {"title": title, "text": text, "tags": self.rng.sample(self.words.tags, 1)},
        )
        last = self.later(born, 2)
        if self.chance(0.5):
            more = f"{text}\n{self.rng.choice(self.words.lessons)}"
            life.add(last, "update", self.agent(), reason="learned in a call", data={"text": more})
        if self.chance(0.25):
            last += timedelta(minutes=20)
            life.add(last, "update", self.person(), data={"pinned": True})
        return life, last
