"""A headless Chromium controlled through a pair of pipes."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import signal
import tempfile
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

NAMES = ("chromium", "chromium-browser", "google-chrome") if hasattr(os, "posix_spawn") else ()
BINARY = os.environ.get("MEMCTX_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
)
# What a page may not do without us knowing.
CONSOLE_ERRORS = frozenset(
    {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
)


class Chromium:
    """One browser with one page."""

    def __init__(self) -> None:
        import fcntl  # noqa: PLC0415 - Windows has none, and collects this file too

        assert BINARY is not None
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (theirs, self._out), (self._in, answers) = os.pipe(), os.pipe()
        # The browser reads from 3 and writes to 4, which may be numbers of these pipes: they move out of the way.
        commands, replies = (
            fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs, answers)
        )
        self._process = os.posix_spawn(
            BINARY,
            [BINARY, *FLAGS, f"--user-data-dir={self._folder.name}", "about:blank"],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, commands, 3),
                (os.POSIX_SPAWN_DUP2, replies, 4),
            ],
        )
        for end in (theirs, answers, commands, replies):
            os.close(end)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to the browser and return its response."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            said = self._read()
            if said.get("id") == number:
                assert "error" not in said, said
                result: dict[str, Any] = said["result"]
                return result
            self.events.append(said)

    def open(self, path: Path, width: int, scheme: Literal["light", "dark"]) -> None:
        """Load a page as it is seen on a screen of some width."""
        self.events.clear()
        self.resize(width, 900)
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def resize(self, width: int, height: int) -> None:
        """Give the screen another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def value(self, expression: str) -> Any:
        """Evaluate a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def screenshot(self, path: Path, *, height: int | None = None) -> None:
        """Save a picture of the page, all of it or from the top."""
        width = self.value("innerWidth")
        tall = height or self.value("document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": tall, "scale": 1}
        shot = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip
        )
        path.write_bytes(base64.b64decode(shot["data"]))

    def console_errors(self) -> list[str]:
        """Return everything the page wrote to its console, and every error."""
        self.value("0")  # all earlier events have arrived by now
        return [
            json.dumps(event["params"])
            for event in self.events
            if event.get("method") in CONSOLE_ERRORS
        ]

    def requests(self) -> list[str]:
        """Return every address that the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def close(self) -> None:
        """End the browser."""
        os.kill(self._process, signal.SIGTERM)
        os.waitpid(self._process, 0)
        os.close(self._out)
        os.close(self._in)
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            data = os.read(self._in, 1 << 16)
            assert data, "the browser has gone"
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\0", 1)
        said: dict[str, Any] = json.loads(line)
        return said
