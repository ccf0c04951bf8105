"""Long chats of two people over many days, one message a line."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from . import words

DAYS, MESSAGES = 12, 25
FRIENDS = ("Philippa", "Nepomuk")


def chat() -> list[dict[str, Any]]:
    """Return the messages of the chat, each with its day as a session."""
    chance = random.Random("chat")
    start = datetime(2026, 3, 2, 18, 30)  # noqa: DTZ001 - local, as a phone writes it
    return [
        {
            "store": "friends",
            "id": f"D{day}:{number}",
            "session": f"s{day}",
            "role": ("user", "assistant")[number % 2],
            "content": f"{FRIENDS[number % 2]}: {words.talk(chance, chance.randrange(1, 5))}",
            "timestamp": (start + timedelta(days=9 * day, minutes=number)).isoformat(),
        }
        for day in range(1, DAYS + 1)
        for number in range(MESSAGES)
    ]
