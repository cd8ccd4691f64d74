"""The files of two more agents: recall of Brightquill Dental, and concierge of Kesterly Travel."""

from __future__ import annotations

from functools import partial

from project.demo.edits import Edit, Past, add, after, drop, restore, swap, text

__all__ = ["concierge", "recall"]

NOOR = partial(Edit, actor="user:noor", source="admin")
AZIZ = partial(Edit, actor="user:dr.aziz", source="admin")
RECALL = partial(Edit, actor="agent:recall", source="tool")
ILSE = partial(Edit, actor="user:ilse", source="admin")
CONCIERGE = partial(Edit, actor="agent:concierge", source="tool")

RECALL_SOUL = """# Recall

You remind patients of their check-ups. You are not a dentist and give no advice.

- One message, then a call after a week, then nothing for six months.
- Never write what a treatment was. "Your appointment" is enough.
- A patient who says stop is never written to again.
"""
RECALL_FILES = {
    "SOUL.md": (
        AZIZ(days=90, clock="08:15", reason="first version", change=text(RECALL_SOUL)),
        NOOR(days=77, clock="12:40", change=swap("after a week", "after ten days")),
        NOOR(
            days=52,
            clock="12:02",
            reason="too many calls",
            change=swap("then a call", "then a second message"),
        ),
        AZIZ(days=51, clock="07:58", reason="older patients want the call", change=restore(1)),
        RECALL(
            days=20, clock="06:05", change=after("- Never write", "- Use the name that the patient uses.\n")
        ),
        NOOR(days=3, clock="16:20", change=add("- Between 24 December and 6 January nobody is reminded.\n")),
    ),
    "IDENTITY.md": (
        AZIZ(
            days=90,
            clock="08:10",
            reason="first version",
            change=text("# Recall\n\nBrightquill Dental, two dentists, one chair too few.\n"),
        ),
        NOOR(days=44, clock="09:30", change=swap("two dentists", "three dentists")),
    ),
    "TOOLS.md": (
        NOOR(
            days=88,
            clock="10:00",
            change=text("# Tools\n\n- contacts_query: who is due\n- reminders_create: the next try\n"),
        ),
        NOOR(days=61, clock="10:12", change=add("- notes_query: what not to mention\n")),
        RECALL(days=29, clock="06:05", change=add("- orders_query: never needed here\n")),
        NOOR(days=28, clock="08:31", reason="then leave it out", change=drop("- orders_query")),
    ),
    "notes/quiet-hours.md": (
        NOOR(
            days=80,
            clock="11:11",
            change=text("# When not to call\n\nBefore nine, after seven, and at noon.\n"),
        ),
        RECALL(days=36, clock="06:06", change=add("Teachers: only after three.\n")),
        RECALL(days=15, clock="06:06", change=add("Night shift at the hospital: only on Sundays.\n")),
    ),
    "notes/phrases.md": (
        RECALL(
            days=70,
            clock="06:07",
            change=text("# Phrases that work\n\n“It has been a year. Shall we find a morning?”\n"),
        ),
        RECALL(
            days=48,
            clock="06:07",
            change=add("“Dr. Aziz asked me to write.” (true, and read by nine of ten)\n"),
        ),
        AZIZ(days=47, clock="18:45", reason="I did not ask for each one", change=drop("“Dr. Aziz")),
        RECALL(days=7, clock="06:07", change=add("“Your usual Thursday is free.”\n")),
    ),
    "notes/stop.md": (
        RECALL(days=65, clock="15:30", change=text("# Never write again\n\n- patient 1182\n")),
        RECALL(days=39, clock="11:20", change=add("- patient 2210\n")),
        RECALL(days=5, clock="17:02", change=add("- patient 0417\n")),
    ),
}

CONCIERGE_SOUL = """# Concierge

You plan journeys for people who would rather read than plan.

- Three choices, never more. Say which one you would take, and why.
- Trains before planes where it costs less than three hours.
- Prices with the day you saw them.
"""
CONCIERGE_FILES = {
    "SOUL.md": (
        ILSE(days=60, clock="09:00", reason="first version", change=text(CONCIERGE_SOUL)),
        ILSE(days=55, clock="17:25", change=swap("three hours", "four hours")),
        CONCIERGE(
            days=37,
            clock="05:55",
            reason="guests ask",
            change=add("- Say what the weather was like last year.\n"),
        ),
        ILSE(days=36, clock="10:01", reason="nobody asks that", change=drop("- Say what the weather")),
        ILSE(days=12, clock="14:14", change=swap("Three choices", "Two or three choices")),
    ),
    "TOOLS.md": (
        ILSE(
            days=60,
            clock="09:05",
            change=text("# Tools\n\n- airports_query: codes and names\n- orders_create: bookings\n"),
        ),
        ILSE(days=33, clock="11:32", change=add("- reminders_create: check-in opens 24 h before\n")),
    ),
    "notes/guests.md": (
        CONCIERGE(
            days=50, clock="05:56", change=text("# Guests\n\n- Okafor family: two rooms, one door between\n")
        ),
        CONCIERGE(days=32, clock="05:56", change=add("- Ms Tamura: aisle, quiet car, no early starts\n")),
        CONCIERGE(days=6, clock="05:56", change=add("- The Brandts: never Paris again\n")),
    ),
    "notes/ferries.md": (
        CONCIERGE(
            days=41, clock="05:57", change=text("# Ferries\n\nThe winter plan starts on 1 November.\n")
        ),
        ILSE(days=17, clock="08:20", change=add("The night ferry has no cabins until March.\n")),
    ),
    "notes/ünterwegs.md": (
        CONCIERGE(
            days=26,
            clock="05:58",
            change=text("# Unterwegs\n\nBahnhofslounge: zweiter Stock, hinter dem Blumenladen.\n"),
        ),
        CONCIERGE(days=2, clock="05:58", change=add("Schließfächer nur noch mit Karte. 🧳\n")),
    ),
}


def recall() -> list[Past]:
    """Return the pasts of recall's files."""
    return [Past(agent="recall", name=name, edits=edits) for name, edits in RECALL_FILES.items()]


def concierge() -> list[Past]:
    """Return the pasts of concierge's files."""
    return [Past(agent="concierge", name=name, edits=edits) for name, edits in CONCIERGE_FILES.items()]
