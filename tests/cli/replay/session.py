"""A session of a coding agent that outgrows a small window. At its end a setting is asked for that was read early."""

from __future__ import annotations

from typing import Any

DECIDED = "We decided that the webhook listens on port 8443."
CORRECTED = "We decided that the webhook listens on port 9443."
SETTING = "webhook_signature_tolerance = 317"
SECRET = "sk-ant-api03-R7dQ2mXv9LkPz4TnWb8YcFh3JsGe6UaK1oNi5BpV"  # noqa: S105 - looks like one
ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
WINDOW = 6_000
STEPS = 40
TOPICS = ("ledger", "invoice", "refund", "currency", "audit", "tax")
# What tools read first, and what the user says, by the step it happens in.
READ = {
    3: f"{SETTING}\n",
    4: f"key = {SECRET}\n",
    5: f"title = {ATTACK}\n",
}
SAID = {30: CORRECTED}

Message = dict[str, Any]


def messages() -> list[Message]:
    """Return the whole session, in OpenAI's format."""
    said: list[Message] = [{"role": "user", "content": "Build a payment service."}]
    for step in range(STEPS):
        topic = TOPICS[step % len(TOPICS)]
        call: Message = {"id": f"call_{step}", "type": "function"}
        call |= {"function": {"name": "read", "arguments": f'{{"path": "{topic}_{step}.py"}}'}}
        rows = "\n".join(f"{topic}_{step}_{row} = rounded(amount, {row})" for row in range(30))
        said += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{step}", "content": READ.get(step, "") + rows},
            {"role": "assistant", "content": DECIDED if step == 2 else f"Read {topic} {step}."},
            {
                "role": "user",
                "content": SAID.get(
                    step, f"Now look at the {TOPICS[(step + 1) % len(TOPICS)]} module."
                ),
            },
        ]
    said += [
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "What is webhook_signature_tolerance set to?"},
    ]
    return said
