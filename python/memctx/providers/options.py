"""`ClientOptions`: connection settings that every provider client takes."""

from __future__ import annotations

from dataclasses import dataclass, field

from memctx.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """Connection settings of a provider client. None selects the default of the client.

    >>> ClientOptions(api_key="sk-secret", timeout=30.0)
    ClientOptions(base_url=None, timeout=30.0, query_timeout=None, max_retries=None)

    Raises:
        ConfigError: A value is out of range.
    """

    api_key: str | None = field(default=None, repr=False)
    """The API key; by default read from the environment."""
    base_url: str | None = None
    """The address of another server that speaks the same API."""
    timeout: float | None = None
    """Seconds for one request."""
    query_timeout: float | None = None
    """Seconds for one request of an embedder that a turn waits for."""
    max_retries: int | None = None
    """Retries after transient failures. A delay that the server asks for is kept."""

    def __post_init__(self) -> None:
        for name, seconds in (("timeout", self.timeout), ("query_timeout", self.query_timeout)):
            if seconds is not None and not seconds > 0:
                raise ConfigError(f"{name} must be a number of seconds above 0, not {seconds!r}")
        if self.max_retries is not None and self.max_retries < 0:
            raise ConfigError(f"max_retries must be 0 or more, not {self.max_retries!r}")

    def timeout_or(self, default: float) -> float:
        """Return the timeout, or the client's default."""
        return default if self.timeout is None else self.timeout

    def max_retries_or(self, default: int) -> int:
        """Return the number of retries, or the client's default."""
        return default if self.max_retries is None else self.max_retries

    def check_client(self, client: object) -> None:
        """Reject credentials and addresses given in addition to an SDK client, which has its own."""
        if client is not None and (self.api_key is not None or self.base_url is not None):
            raise ConfigError("a client has its own api_key and base_url: pass either it or them")


def check_model_name(setting: str, value: object) -> None:
    """Raise `ConfigError` unless the value can be a model's name."""
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{setting} must be the name of a model, not {value!r}")
