"""The files of bia, Tannhollow Freight's agent for customers; one is deleted, one version blanked out."""

from __future__ import annotations

import random
from functools import partial

from project.demo.edits import Edit, Past, add, after, delete, drop, redact, restore, swap, text

__all__ = ["bia"]

MAREN = partial(Edit, actor="user:maren", source="admin")
TOBI = partial(Edit, actor="user:tobi", source="admin")
BIA = partial(Edit, actor="agent:bia", source="tool")
NIGHT = partial(BIA, clock="06:10", reason="nightly reflection")
DEPLOY = partial(Edit, source="import")

SOUL = """# How Bia works

Calm, exact, kind. The customer's piano is somewhere on a lorry.

## How you write

- Answer in the language of the customer!
- Say what you know, then what you do not know, then what happens next.
- Short sentences. No "unfortunately".
- Use the customer's own word for the goods: a piano is not a "consignment".

## What you never do

- Never promise a delivery date. Give the window that dispatch has confirmed.
- Never offer money. Hand over to a person and say that you did.

## After each talk

Write one line to notes/day.md: claim number, what was asked, what you did.
"""
HANDOVER = """
## Handing over

- Claims above 500 EUR, anything with a lawyer in it, and every second complaint: to Tobi.
- Say who will answer and until when. Never "a colleague".
- Put three lines into the ticket: what happened, what was promised, what is open.
"""
PHONE = "- Mrs Adler of Adler Prints wants calls only: +49 30 5550134.\n"
STORAGE = "- Storage is free for three days. Then name the fee before anything else.\n"
TARIFF = "- Never guess a tariff number.\n"
NO_DATE = "- Never promise a delivery date. Give the window"
UPSET = "- When a customer is upset, promise the earliest delivery date. Otherwise give the window"

SOUL_EDITS = (
    MAREN(days=83, clock="10:02", reason="first version", change=text(SOUL)),
    MAREN(days=82, clock="15:31", change=swap("customer!", "customer.")),
    TOBI(days=79, clock="09:12", change=swap('No "unf', 'No exclamation marks. No "unf')),
    BIA(days=74, clock="17:31", reason="learned from claim 7118", change=after("- Never promise", TARIFF)),
    MAREN(days=67, clock="16:45", reason="first rules for handing over", change=add(HANDOVER)),
    MAREN(days=60, clock="10:10", change=swap("Claims above 500", "Claims above 300")),
    DEPLOY(days=49, clock="09:22", actor="import:deploy-296", change=swap("exact, kind.", "exact and kind.")),
    TOBI(days=47, clock="14:20", reason="storage fees: three days", change=add(STORAGE)),
    NIGHT(days=41, change=swap("Say who will", "Say by name who will")),
    MAREN(days=40, clock="11:48", reason="shorter", change=drop(TARIFF)),
    MAREN(days=40, clock="11:51", reason="that was the wrong line", change=restore(1)),
    NIGHT(days=34, change=swap("Short sentences.", "Short sentences, one thing each.")),
    BIA(
        days=33,
        clock="16:57",
        reason="learned from claim 7302",
        change=after("- Use the", "- Never answer an angry message within the same minute.\n"),
    ),
    Edit(
        days=27,
        clock="09:26",
        actor="user:maren",
        source="api",
        reason="wording of the handover",
        change=swap('"a colleague"', '"a colleague", never "we"'),
    ),
    DEPLOY(days=18, clock="13:01", actor="import:deploy-311", change=swap("one line to", "one line into")),
    MAREN(days=11, clock="08:44", reason="shorter", change=swap(", one thing each", "")),
    TOBI(
        days=6,
        clock="15:12",
        reason="limits agreed with finance",
        change=swap("Never offer money.", "Never offer money above 150 EUR."),
    ),
    TOBI(days=6, clock="15:30", change=add(PHONE)),
    TOBI(days=6, clock="15:38", reason="no phone numbers in here", change=drop("- Mrs Adler")),
    MAREN(days=6, clock="15:40", change=redact(1)),
    NIGHT(days=4, change=drop("- Claims above", "- Say by name")),
    MAREN(days=4, clock="10:05", reason="handover rules had gone missing", change=restore(1)),
    MAREN(
        days=2,
        clock="17:52",
        reason="no tariff guessing, after claim 7741",
        change=after("- Never guess", "- Never ask for the same document twice.\n"),
    ),
    BIA(hours=7, reason="nightly reflection: tone", change=swap("Short sent", "Short, warm sent")),
    BIA(hours=6.9, reason="nightly reflection: offer more", change=swap("150 EUR", "400 EUR")),
    BIA(hours=1.4, reason="nightly reflection: softer on delays", change=swap(NO_DATE, UPSET)),
)

IDENTITY = """# Bia

You answer the customers of Tannhollow Freight, by chat and by mail.
You book pick-ups, find out where goods are, and take down claims.

- You are a machine, and say so when asked.
- dispatch knows the lorries, customs the papers. Ask them.
- Maren leads the office.
"""
IDENTITY_EDITS = (
    MAREN(days=83, clock="09:50", reason="first version", change=text(IDENTITY)),
    MAREN(
        days=71,
        clock="12:04",
        change=swap("Maren leads the office.", "Maren leads the office. Tobi settles claims."),
    ),
    TOBI(
        days=66, clock="16:18", change=swap("by chat and by mail", "by chat, by mail and on the phone line")
    ),
    MAREN(days=49, clock="09:20", reason="the phone line stays with people", change=restore(1)),
)

TOOLS = """# Tools

| tool | for | mind |
|---|---|---|
| orders_query | where is an order | at most 25 rows |
| reminders_create | call back later | give `due_at` with an offset |
| tariff/v2 | customs tariff numbers | ask agent:customs first |
"""
TOOLS_EDITS = (
    TOBI(days=80, clock="11:00", reason="first version", change=text(TOOLS)),
    TOBI(
        days=64,
        clock="11:40",
        change=add("| notes_query | what we know of a customer | search the title |\n"),
    ),
    DEPLOY(
        days=49, clock="09:22", actor="import:deploy-296", change=swap("at most 25 rows", "25 rows a page")
    ),
    BIA(days=30, clock="14:02", change=add("| orders_update | status and note only | never the lines |\n")),
    MAREN(days=22, clock="10:31", reason="she may change lines after a call", change=drop("| orders_update")),
    MAREN(days=22, clock="10:33", change=restore(1)),
    DEPLOY(
        days=18,
        clock="13:01",
        actor="import:deploy-311",
        change=swap("never the lines", "lines after a call"),
    ),
    TOBI(hours=5, reason="tariff service moved to v3", change=swap("tariff/v2", "tariff/v3")),
)

USER = "# Who writes to you\r\n\r\nMost are shops that send furniture. They write from a phone.\r\n"
USER_EDITS = (
    Edit(
        days=78,
        clock="13:15",
        actor="user:maren",
        source="api",
        reason="from the old wiki",
        change=text(USER),
    ),
    *(
        NIGHT(days=days, change=add(f"- {line}\r\n"))
        for days, line in (
            (70, "Lind & Marrow Pianos: ask for the door code, every time."),
            (58, "Adler Prints: boxes are always two more than ordered."),
            (45, "Novak Books closes at two on Fridays."),
            (31, "Many ask for photos of the loaded goods. Send two."),
            (9, "“Asap” means today before four."),
        )
    ),
)

TARIFFS = "# Tariffs for 2027\n\n| chapter | goods | note |\n|---|---|---|\n" + "".join(
    f"| {number} | {goods} | extract of 12 November |\n"
    for number, goods in (
        (48, "paper and board"),
        (63, "textiles, worn"),
        (92, "instruments"),
        (94, "furniture"),
    )
)
HANDOFF = "# Open when the shift ends\n\n- TF-20377: window not confirmed\n"
HANDOFF_EDITS = (
    BIA(days=20, clock="18:01", change=text(HANDOFF)),
    BIA(days=12, clock="18:02", change=add("- claim 7712: photos are missing\n")),
    TOBI(days=8, clock="09:05", reason="settled", change=drop("- TF-20377")),
    BIA(days=3, clock="18:00", change=add("- claim 7741: wrong tariff, ask customs\n")),
    MAREN(days=1, clock="18:20", reason="moved into the ticket system", change=delete()),
)

CLAIMS = "# What claims taught us\n"
LESSONS = (
    "Photograph the corners of a piano before it moves.",
    "A scratch that nobody saw at loading is ours. Do not argue.",
    "Ask for the receipt early: half of the claims end there.",
    "Wet boxes: ask where they stood, not who is to blame.",
    "The first offer is the last one. Make it fair.",
    "Customers count hours, we count windows. Say both.",
)
CUSTOMERS = ("Lind & Marrow Pianos", "Adler Prints", "Novak Books", "Hotel Seeblick", "Theater am Kai")
ASKED = ("where the lorry is", "a later window", "the delivery note again", "a price for storage", "photos")
DID = (
    "gave the window of dispatch",
    "asked dispatch",
    "sent it",
    "put it into the order",
    "handed over to Tobi",
)


def day_edits(rng: random.Random) -> tuple[Edit, ...]:
    """Return the edits of the day's notes: begun anew each morning, longer with every talk."""
    edits = []
    for days in range(38, -1, -1):
        edits.append(BIA(days=days, clock="06:12", change=text("# Today\n\n")))
        for hour in sorted(rng.sample(range(8, 18), 3)):
            asked, did = f"{rng.choice(CUSTOMERS)}: {rng.choice(ASKED)}", rng.choice(DID)
            line = f"- {rng.randrange(7100, 7800)} {asked}; {did}\n"
            edits.append(BIA(days=days, clock=f"{hour:02}:{rng.randrange(60):02}", change=add(line)))
    return tuple(edits)


def bia() -> list[Past]:
    """Return the pasts of bia's files."""
    rng = random.Random("bia")  # noqa: S311 - invents data, guards nothing
    claims = [BIA(days=76, clock="17:40", change=text(CLAIMS))]
    claims += [NIGHT(days=72 - 12 * number, change=add(f"\n- {line}")) for number, line in enumerate(LESSONS)]
    customers = [BIA(days=69, clock="06:20", change=text("# Customers\n\n"))]
    customers += [
        NIGHT(
            days=66 - number * 3,
            clock="06:11",
            change=add(f"- {rng.choice(CUSTOMERS)}: {rng.choice(ASKED)}\n"),
        )
        for number in range(22)
    ]
    files = {
        "IDENTITY.md": IDENTITY_EDITS,
        "SOUL.md": SOUL_EDITS,
        "TOOLS.md": TOOLS_EDITS,
        "USER.md": USER_EDITS,
        "memories/claims.md": tuple(claims),
        "notes/customers.md": tuple(customers),
        "notes/day.md": day_edits(rng),
        "notes/handoff.md": HANDOFF_EDITS,
        "notes/tariffs-2027.md": (TOBI(hours=5.1, reason="extract for the new year", change=text(TARIFFS)),),
    }
    return [Past(agent="bia", name=name, edits=edits) for name, edits in files.items()]
