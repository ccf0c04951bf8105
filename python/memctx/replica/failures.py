"""The failures after which a call may be repeated."""

from __future__ import annotations

from memctx.errors import LateError, ServerUnavailableError, StoreLockedError

TRANSIENT = (LateError, ServerUnavailableError, StoreLockedError)
