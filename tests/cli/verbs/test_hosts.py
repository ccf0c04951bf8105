"""Verbs on agent hosts: what they show, ask and write; and sessions by the names that people know."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import memctx
from memctx.cli import main
from memctx.cli.verbs import hosts as verbs
from memctx.cli.verbs.diagnostics import run_doctor
from memctx.cli.verbs.shell import ShellRequest
from memctx.cli.verbs.store import show_status
from memctx.cli.verbs.table import HOSTS
from memctx.hosts import HostSession, answer
from memctx.hosts.settings import HOSTS as KNOWN_HOSTS
from memctx.tools import Tools

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder / "project")
    return folder


def test_the_table_knows_every_host() -> None:
    assert HOSTS == KNOWN_HOSTS


@pytest.mark.parametrize("host", HOSTS)
def test_without_yes_and_without_a_terminal_the_changes_are_shown_and_not_made(
    home: Path, host: str
) -> None:
    before = list(home.rglob("*"))
    result = CliRunner().invoke(main, ["install", host])
    assert result.exit_code == 1
    assert "+++ " in result.output
    assert "Nothing was changed; add --yes to do it." in result.output
    assert list(home.rglob("*")) == before


@pytest.mark.parametrize("host", HOSTS)
def test_install_and_uninstall_with_yes(home: Path, host: str) -> None:
    before = sorted(each for each in home.rglob("*") if each.is_file())
    for scope in ("--user", "--project"):
        done = CliRunner().invoke(main, ["install", host, scope, "--yes", "--json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.output)["is_done"] is True
        again = CliRunner().invoke(main, ["install", host, scope, "--yes"])
        assert f"{host}: already installed." in again.output
        done = CliRunner().invoke(main, ["uninstall", host, scope, "--yes"])
        assert f"{host}: uninstalled." in done.output
        assert (
            f"{host}: not installed." in CliRunner().invoke(main, ["uninstall", host, scope]).output
        )
    assert sorted(each for each in home.rglob("*") if each.is_file()) == before


class Terminal(io.StringIO):
    """A stdin at which a person sits."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("reply", ["y", "n"])
def test_a_person_at_a_terminal_is_asked(
    home: Path, reply: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"{reply}\n"))
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: reply)
    outcome = verbs.install_host(ShellRequest(), host="claude-code")
    assert outcome.data["is_done"] is (reply == "y")
    assert (home / ".claude" / "settings.json").exists() is (reply == "y")


def test_a_file_that_is_not_understood_is_exit_code_2(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text("{\n  theme: dark\n}")
    result = CliRunner().invoke(main, ["install", "claude-code", "--yes"])
    assert result.exit_code == 2
    assert "settings.json:2:3: expected a name" in result.stderr


def test_both_scopes_are_refused(home: Path) -> None:  # noqa: ARG001 - no file of this user is read
    result = CliRunner().invoke(main, ["install", "codex", "--user", "--project"])
    assert result.exit_code == 2


def test_doctor_runs_the_installed_hooks(home: Path, tmp_path: Path) -> None:
    assert all(
        check["name"] not in HOSTS
        for check in run_doctor(ShellRequest(tmp_path / "none")).data["checks"]
    )
    verbs.install_host(ShellRequest(), host="gemini", is_sure=True)
    checks = {
        each["name"]: each for each in run_doctor(ShellRequest(tmp_path / "none")).data["checks"]
    }
    assert checks["gemini"]["words"] == "hooks work: BeforeAgent, AfterAgent, SessionEnd"
    path = home / ".gemini" / "settings.json"
    path.write_text(
        path.read_text().replace("memctx hook AfterAgent", "memctx hook AfterAgent; exit 3 #")
    )
    outcome = run_doctor(ShellRequest(tmp_path / "none"))
    assert not outcome.is_ok
    assert "AfterAgent: exit code 3" in outcome.text
    assert not (tmp_path / "none").exists()


def test_the_verb_hook_answers_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCTX_SERVE", "off")
    store = ["--host", "codex", "--store", str(tmp_path / "store")]
    payload = {"session_id": "c1", "cwd": str(tmp_path), "prompt": "We decided: port 7443 is used."}
    done = CliRunner().invoke(main, ["hook", "UserPromptSubmit", *store], input=json.dumps(payload))
    assert (done.exit_code, done.output) == (0, "")
    later = {**payload, "session_id": "c2", "source": "startup"}
    done = CliRunner().invoke(main, ["hook", "SessionStart", *store], input=json.dumps(later))
    assert "port 7443" in done.output


def test_status_names_sessions_by_host_folder_and_title(tmp_path: Path) -> None:
    root, project = tmp_path / "store", tmp_path / "shop"
    project.mkdir()
    for own, title in (("c1", "The webhook of the shop"), ("c2", "")):
        payload = {
            "conversation_id": own,
            "workspace_roots": [str(project)],
            "prompt": f"Let us talk about {own} and the shop",
            "session_title": title,
        }
        answer("cursor", "beforeSubmitPrompt", payload, root=root)
    with memctx.open(root, session_id="plain") as memory:
        memory.archive([{"role": "user", "content": "A message of another program"}])
    outcome = show_status(ShellRequest(root))
    assert "cursor · shop · The webhook of the shop" in outcome.text
    assert "cursor · shop · Let us talk about c2 and the shop" in outcome.text
    assert HostSession("cursor", str(project), "c1").session_id in outcome.text
    found = {each["id"]: each for each in outcome.data["sessions"]}
    first = found[HostSession("cursor", str(project), "c1").session_id]
    assert (first["host"], first["project"]) == ("cursor", str(project))
    assert first["first_prompt"] == "Let us talk about c1 and the shop"
    assert found["plain"]["host"] is None


def test_tools_of_a_project_see_its_sessions_only(tmp_path: Path) -> None:
    from memctx.hosts.hooks import ProjectMemory  # noqa: PLC0415 - beside what it is for

    root = tmp_path / "store"
    ids: dict[str, str] = {}
    for folder, port in (("shop", 8443), ("blog", 9000)):
        session = HostSession("codex", str(tmp_path / folder), "c1")
        with memctx.open(root, session_id=session.session_id) as memory:
            archived = memory.archive(
                [{"role": "user", "content": f"The webhook listens on port {port}"}]
            )
            ids[folder] = archived.ids[0]
            fact = memory.facts.add("config", f"The payment webhook listens on port {port}")
            ids[f"{folder} fact"] = fact.id
    own = HostSession("mcp", str(tmp_path / "shop"), "tools")
    with ProjectMemory(memctx.Config(storage_path=root), own) as memory:
        tools = Tools(memory)
        found = tools.call("memory_search", {"query": "which port has the webhook?"})
        assert "8443" in found.text
        assert "9000" not in found.text
        assert not tools.call("memory_get", {"id": ids["shop"]}).is_error
        for other in ("blog", "blog fact"):
            assert tools.call("memory_get", {"id": ids[other]}).is_error
            assert tools.call("memory_get", {"id": ids[other][:8]}).is_error
        assert tools.call("memory_update", {"id": ids["blog fact"], "content": "x"}).is_error
        assert tools.call("memory_forget", {"id": ids["blog fact"]}).is_error
        assert "blog" not in tools.call("memory_sessions", {}).text
        assert tools.call("memory_status", {}).data["facts"] == 1
        stored = tools.call(
            "memory_store", {"content": "The payment webhook listens on port 7", "type": "config"}
        )
        assert stored.data["replaced"]["id"] == ids["shop fact"]
    blog = HostSession("codex", str(tmp_path / "blog"), "c1").session_id
    with memctx.open(root, session_id=blog) as memory:
        assert [fact.content for fact in memory.facts.list()] == [
            "The payment webhook listens on port 9000"
        ]
