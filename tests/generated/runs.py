"""Runs of an agent with function calls, one task each: the history of a SWE-agent trajectory."""

from __future__ import annotations

import json
import random
from typing import Any, TypeAlias

from . import words

Message: TypeAlias = dict[str, Any]

RUNS = ("run-1", "run-2", "run-3")
ACTIONS = ("create", "open", "edit", "find_file", "search_dir", "bash", "submit")
# Characters of what the environment shows, in the order of a run that reads, tries and reports.
SHOWN = (60, 250, 900, 4_200, 120, 2_600, 27, 5_200, 300, 3_100, 250, 1_800, 90)


def run(name: str) -> dict[str, Any]:
    """Return a run as the agent writes it."""
    chance = random.Random(name)
    subject = chance.choice(words.SUBJECTS)
    history = _opening(chance, subject)
    for number, length in enumerate(SHOWN[: 11 + RUNS.index(name)]):
        history += _exchange(chance, subject, f"call_{name}_{number}", length)
    trajectory = [
        {"action": said["action"], "observation": shown["content"], "thought": said["thought"]}
        for said, shown in zip(history[2::2], history[3::2], strict=True)
    ]
    info = {"exit_status": "submitted", "model_stats": {"api_calls": len(trajectory)}}
    return {"environment": "main", "trajectory": trajectory, "history": history, "info": info}


def _opening(chance: random.Random, subject: str) -> list[Message]:
    rules = f"You fix bugs in a repository. Use one function at a time. {words.talk(chance, 12)}"
    task = f"We have a bug in the {subject}.\n\n{words.talk(chance, 25, subject)}\n\n{words.code(chance, 40)}"
    return [
        {"role": "system", "content": rules, "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": task, "agent": "main", "message_type": "observation"},
    ]


def _exchange(chance: random.Random, subject: str, call: str, length: int) -> list[Message]:
    action = chance.choice(ACTIONS)
    arguments = {
        "path": words.path(chance, subject),
        "text": words.code(chance, chance.randrange(1, 12)),
    }
    thought = words.talk(chance, chance.randrange(1, 4), subject)
    function = {"name": action, "arguments": json.dumps(arguments)}
    shown = f"{words.output(chance, length, subject)}\n(Open file: {arguments['path']})"
    return [
        {
            "message_type": "action",
            "role": "assistant",
            "content": thought,
            "thought": thought,
            "action": f"{action} {arguments['path']}",
            "agent": "main",
            "tool_calls": [{"function": function, "id": call, "type": "function"}],
        },
        {
            "message_type": "observation",
            "role": "tool",
            "content": shown,
            "agent": "main",
            "tool_call_ids": [call],
        },
    ]
