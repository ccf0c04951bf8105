"""The hosts, run headless: settings for a loopback provider, command lines, and the trigger of a compaction."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

MEMCTX = Path(__file__).parents[2] / ".venv" / "bin" / "memctx"
SECONDS = 240
"""Most seconds that a host may take for a prompt."""


@dataclass
class Host:
    """A host in folders of its own; conversations are continued until a new one is begun."""

    program: Path
    home: Path
    project: Path
    url: str
    is_begun: bool = False
    conversation: str = field(default_factory=lambda: str(uuid4()))

    name: ClassVar[str]
    install_options: ClassVar[tuple[str, ...]] = ()
    reported: ClassVar[int | None] = None
    """Tokens that the provider tells before the host compacts; None where something else makes it compact."""
    rewritten: ClassVar[tuple[str, ...]] = ()
    """Settings files that the host itself writes when it runs."""

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True)
        self.project.mkdir(parents=True)
        command = ["git", "init", "--quiet", "."]
        subprocess.run(command, cwd=self.project, env=self._environ(), check=True)
        self.configure()

    def configure(self) -> None:
        """Write the settings of a user of the host."""
        raise NotImplementedError

    def command(self, prompt: str) -> list[str]:
        """Return the command line for a prompt."""
        raise NotImplementedError

    def variables(self) -> dict[str, str]:
        """Return variables of the host's environment."""
        return {}

    def ask(self, prompt: str) -> float:
        """Give the host a prompt and return the seconds that it took."""
        began = time.perf_counter()
        done = subprocess.run(
            self.command(prompt),
            cwd=self.project,
            env=self._environ() | self.variables(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        seconds = time.perf_counter() - began
        shown = f"{self.name} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert not done.returncode, shown
        self.is_begun = True
        return seconds

    def compact(self) -> float:
        """Have the host compact, by a prompt if that is what it takes, and return the seconds that it took."""
        return self.ask("Please go on with the next item of the list.")

    def begin(self) -> None:
        """Begin a new conversation."""
        self.is_begun, self.conversation = False, str(uuid4())

    def memctx(self, *arguments: str) -> str:
        """Run a command of memctx as the user of this home folder."""
        command = [str(MEMCTX), *arguments]
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self._environ() | self.variables(),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert not done.returncode, done.stdout + done.stderr
        return done.stdout

    def _environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ}
        return kept | {"HOME": str(self.home), "SHELL": "/bin/sh"}

    def settings(self) -> dict[str, bytes]:
        """Return the settings files in the home folder, by their path in it."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for folder in self.folders()
            for path in sorted(folder.rglob("*") if folder.is_dir() else [folder])
            if path.suffix in {".json", ".jsonc", ".toml", ".js"} and path.is_file()
        }

    def folders(self) -> list[Path]:
        """Return the settings files of the host, or folders of them."""
        raise NotImplementedError


class ClaudeCode(Host):
    """Claude Code: ``claude -p``, compacted by ``/compact``."""

    name = "claude-code"
    rewritten = (".claude.json",)

    def configure(self) -> None:
        folder = self.home / ".claude"
        folder.mkdir()
        text = '{\n    "cleanupPeriodDays": 30,\n    "permissions": {"deny": ["WebFetch"]}\n}\n'
        (folder / "settings.json").write_text(text)

    def command(self, prompt: str) -> list[str]:
        how = "--resume" if self.is_begun else "--session-id"
        return [str(self.program), "-p", prompt, how, self.conversation]

    def variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def compact(self) -> float:
        return self.ask("/compact")

    def folders(self) -> list[Path]:
        return [self.home / ".claude" / "settings.json", self.home / ".claude.json"]


class Codex(Host):
    """Codex: ``codex exec``, compacted when the provider told it of too many tokens in the turn before."""

    name = "codex"
    install_options = ("--trust",)
    reported = 90_000

    def configure(self) -> None:
        folder = self.home / ".codex"
        folder.mkdir()
        text = f"""\
# settings of the user
model = "loopback"
model_provider = "loopback"
model_auto_compact_token_limit = 50000

[model_providers.loopback]
name = "loopback"
base_url = "{self.url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
"""
        (folder / "config.toml").write_text(text)

    def command(self, prompt: str) -> list[str]:
        resumed = ["resume", "--last"] if self.is_begun else []
        return [str(self.program), "exec", "--skip-git-repo-check", *resumed, prompt]

    def variables(self) -> dict[str, str]:
        return {"LOOPBACK_KEY": "x"}

    def folders(self) -> list[Path]:
        return [self.home / ".codex" / name for name in ("config.toml", "hooks.json")]


class OpenCode(Host):
    """Opencode: ``opencode run``, compacted after a turn for which the provider told it of too many tokens."""

    name = "opencode"
    reported = 58_000

    def configure(self) -> None:
        folder = self.home / ".config" / "opencode"
        folder.mkdir(parents=True)
        limits = {"context": 60_000, "output": 4_000}
        settings = {
            "$schema": "https://opencode.ai/config.json",
            "autoupdate": False,
            "share": "disabled",
            "model": "loopback/m1",
            "small_model": "loopback/m1",
            "provider": {
                "loopback": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "loopback",
                    "options": {"baseURL": f"{self.url}/v1", "apiKey": "x"},
                    "models": {"m1": {"name": "m1", "limit": limits}},
                }
            },
        }
        text = f"// settings of the user\n{json.dumps(settings, indent=2)}\n"
        (folder / "opencode.jsonc").write_text(text)

    def command(self, prompt: str) -> list[str]:
        return [str(self.program), "run", *(["-c"] if self.is_begun else []), prompt]

    def variables(self) -> dict[str, str]:
        names = ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD")
        return {f"OPENCODE_DISABLE_{name}": "1" for name in names}

    def folders(self) -> list[Path]:
        return [self.home / ".config" / "opencode" / name for name in ("opencode.jsonc", "plugin")]


class Gemini(Host):
    """Gemini CLI: ``gemini -p``, compacted by a threshold in its settings for one prompt."""

    name = "gemini"

    def configure(self) -> None:
        folder = self.home / ".gemini"
        folder.mkdir()
        text = """\
{
  // settings of the user
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false}
}
"""
        (folder / "settings.json").write_text(text)

    def command(self, prompt: str) -> list[str]:
        resumed = ["--resume", "latest"] if self.is_begun else []
        node = shutil.which("node") or "node"
        options = ["--skip-trust", "-m", "gemini-2.5-flash", *resumed, "-p", prompt]
        return [node, str(self.program), *options]

    def variables(self) -> dict[str, str]:
        return {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": self.url}

    def compact(self) -> float:
        path = self.home / ".gemini" / "settings.json"
        settings = path.read_text()
        threshold = '{"model": {"compressionThreshold": 0.00001},'
        path.write_text(settings.replace("{", threshold, 1))
        try:
            return super().compact()
        finally:
            path.write_text(settings)

    def folders(self) -> list[Path]:
        return [self.home / ".gemini" / "settings.json"]


HOSTS: dict[str, type[Host]] = {each.name: each for each in (ClaudeCode, Codex, OpenCode, Gemini)}
