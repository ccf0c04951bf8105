r"""What happens to a message before it is stored.

What a chat host wrapped around it goes, what says nothing is skipped, and what it speaks of is noted.

>>> text = strip_channel_prefix("[Sun 2026-02-15 18:49 GMT+8] Feishu\nSend 300元 to Alice by 2026-02-20")
>>> text, is_noise(text), Topics().of(text)
('Send 300元 to Alice by 2026-02-20', False, ['email'])
>>> [(entity.kind, entity.value) for entity in entities(text)]
[('amount', '300元'), ('date', '2026-02-20')]
"""

from memctx._core import Entity, Topics, entities, is_noise, strip_channel_prefix

__all__ = ["Entity", "Topics", "entities", "is_noise", "strip_channel_prefix"]
