"""Hypothesis strategies for messages and entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from memctx.hosts.pi import Transcript

# Whatever a text may hold: ends of lines that are none in JSON, halves of characters, NUL.
texts = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["\u2028a\u0085b\x1c", "\ud800", "支付\n回调", '"}\n{"', "\x00", ""]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
messages = st.one_of(
    st.fixed_dictionaries({"role": st.just("user"), "content": texts}),
    st.fixed_dictionaries(
        {
            "role": st.just("assistant"),
            "content": st.lists(
                st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=2
            ),
            "model": texts,
        }
    ),
    st.dictionaries(texts, values, max_size=3),
)

# What is done to a transcript, one after the other.
steps = st.lists(
    st.one_of(
        st.tuples(st.just("message"), messages),
        st.tuples(st.just("messages"), st.lists(messages, max_size=3)),
        st.tuples(st.just("compaction"), texts),
        st.tuples(st.just("custom"), values),
        st.tuples(st.just("custom_message"), texts),
        st.tuples(st.just("branch"), st.integers(0, 20)),
        st.tuples(st.just("label"), texts),
        st.tuples(st.just("other"), st.dictionaries(texts, values, max_size=2)),
    ),
    min_size=1,
    max_size=8,
)

OWN = {"type", "id", "parentId", "timestamp"}


def take(transcript: Transcript, step: tuple[str, Any]) -> None:
    kind, given = step
    here = [entry.id for entry in transcript.lineage()]
    match kind:
        case "message":
            transcript.append_message(given)
        case "messages":
            transcript.append_messages(given)
        case "compaction":
            kept = here[len(here) // 2] if here else None
            transcript.append_compaction(given, kept, 51_234, details={"readFiles": []})
        case "custom":
            transcript.append_custom("note", given)
        case "custom_message":
            transcript.append_custom_message("note", given, display=False)
        case "branch":
            transcript.branch(here[given % len(here)] if here else None)
        case "label" if here:
            transcript.append_label(here[0], given)
        case "other":
            transcript.append("futureType", {k: v for k, v in given.items() if k not in OWN})
        case _:
            pass
