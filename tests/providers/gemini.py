"""Gemini's generateContent: turns of calls and of their responses, as many of the one as of the other."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from .api import Asked, Refused, fits, joined

if TYPE_CHECKING:
    from .api import Body, Event, Reply, Usage

DATA = {"text", "functionCall", "functionResponse", "inlineData", "thought", "fileData"}


class Gemini:
    """The generateContent API, streamed or not."""

    def serves(self, path: str) -> bool:
        return "enerateContent" in path

    def is_stream(self, path: str, body: Body) -> bool:
        del body
        return "stream" in path

    def check(self, body: Body, window: int) -> int:
        contents = body.get("contents")
        if not contents:
            raise Refused("contents is not specified")
        if contents[0].get("role", "user") != "user":
            raise Refused("Please ensure that multiturn requests begin with a user turn.")
        for number, content in enumerate(contents):
            before = contents[number - 1] if number else None
            following = contents[number + 1] if number + 1 < len(contents) else None
            _check_turn(content, number, before, following)
        if _thinks(body):
            _check_signatures(contents)
        whole = [body.get("systemInstruction"), body.get("tools"), contents]
        refusal = "The input token count ({count}) exceeds the maximum number of tokens allowed ({window})."
        return fits(whole, window, refusal)

    def asked(self, body: Body) -> Asked:
        newest = body["contents"][-1]
        return Asked(
            head=(body.get("systemInstruction"), body.get("tools")),
            messages=body["contents"],
            is_result=bool(_parts(newest, "functionResponse")),
            text=joined(newest["parts"]),
            tools=tuple(
                declared["name"]
                for tool in body.get("tools") or ()
                for declared in tool.get("functionDeclarations", ())
            ),
        )

    def answer(self, body: Body, reply: Reply, usage: Usage, number: int) -> Body:
        parts: list[Body] = [{"text": reply.text}] if reply.text else []
        parts += [
            {"functionCall": {"id": id, "name": "read_log", "args": arguments}}
            for id, arguments in reply.calls  # noqa: A001 - the provider's word
        ]
        if _thinks(body):
            parts[0]["thoughtSignature"] = b64encode(f"thought {number}".encode()).decode()
            parts.insert(0, {"text": f"Thought number {number}.", "thought": True})
        content = {"role": "model", "parts": parts}
        return {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": usage.tokens,
                "candidatesTokenCount": usage.output,
                "totalTokenCount": usage.tokens + usage.output,
                "cachedContentTokenCount": usage.cached,
            },
            "modelVersion": f"loopback-{number}",
        }

    def events(self, answer: Body) -> list[Event]:
        return [(None, answer)]

    def refusal(self, message: str) -> Body:
        return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


def _check_turn(content: Body, number: int, before: Body | None, following: Body | None) -> None:
    if content.get("role", "user") not in {"user", "model"}:
        raise Refused("Please use a valid role: user, model.")
    if not content.get("parts"):
        raise Refused(f"contents[{number}].parts must not be empty")
    if not all(set(part) & DATA for part in content["parts"]):
        raise Refused(
            f"contents[{number}].parts: required oneof field 'data' must have one initialized field"
        )
    if calls := _parts(content, "functionCall"):
        if before is None or before.get("role", "user") != "user":
            raise Refused(
                "Please ensure that function call turn comes immediately after a user turn or after a"
                " function response turn."
            )
        if len(_parts(following, "functionResponse")) != len(calls):
            raise Refused(
                "Please ensure that the number of function response parts is equal to the number of"
                " function call parts of the function call turn."
            )
    if _parts(content, "functionResponse") and not _parts(before, "functionCall"):
        raise Refused(
            "Please ensure that function response turn comes immediately after a function call turn."
        )


def _thinks(body: Body) -> bool:
    asked = body.get("generationConfig", {}).get("thinkingConfig", {})
    return bool(asked.get("includeThoughts") or asked.get("include_thoughts"))


def _check_signatures(contents: list[Body]) -> None:
    """Check the first call of every step since the user spoke: it was made in thoughts that its signature holds."""
    spoken = [
        number
        for number, content in enumerate(contents)
        if content.get("role", "user") == "user" and not _parts(content, "functionResponse")
    ]
    for number in range(max(spoken, default=0), len(contents)):
        calls = _parts(contents[number], "functionCall")
        if calls and "thoughtSignature" not in calls[0]:
            raise Refused(
                f"Function call `default_api:{calls[0]['functionCall']['name']}` in the {number}. content block is"
                " missing a thought_signature."
            )


def _parts(content: Body | None, kind: str) -> list[Body]:
    return [part for part in content["parts"] if kind in part] if content else []
