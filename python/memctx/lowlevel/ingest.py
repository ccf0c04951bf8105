r"""Preprocessing of messages before they are stored.

Prefixes of chat hosts are removed, noise is skipped, topics and entities are extracted.

>>> text = strip_channel_prefix("[Sun 2026-02-15 18:49 GMT+8] Feishu\nSend 300元 to Alice by 2026-02-20")
>>> text, is_noise(text), Topics().of(text)
('Send 300元 to Alice by 2026-02-20', False, ['email'])
>>> [(entity.kind, entity.value) for entity in entities(text)]
[('amount', '300元'), ('date', '2026-02-20')]
"""

from memctx._core import Entity, Topics, entities, is_noise, strip_channel_prefix

__all__ = ["Entity", "Topics", "entities", "is_noise", "strip_channel_prefix"]
