"""The verb table: every verb once, with its parameters. The shell's commands and slash commands are made from it.

A handler is imported when its verb is called, so that help does not load the memory. It takes a `Request` and the
parameters by name, and returns an `Outcome`. A parameter that was not given is not passed, so that
the handler's default applies.
"""

from __future__ import annotations

from memctx.cli.verbs.verb import (
    LIMITS,
    READ_TRANSCRIPT,
    SESSION,
    TRANSCRIPT,
    WINDOW,
    YES,
    Parameter,
    Verb,
    flag,
    id_prefix,
    result_limit,
    words,
)
from memctx.protocols import FACT_TYPES, FactType

DEFAULT_FACT_TYPE: FactType = "config"
MIN_BENCH_MESSAGES = 100
MIN_ANSWER_TOKENS = 200

HOSTS = ("claude-code", "codex", "gemini", "cursor", "opencode")
HOST = Parameter("host", "an agent host", is_required=True, choices=HOSTS, metavar="HOST")
SCOPES = (
    flag("in_project", "--project", "Change the settings of the project in this folder."),
    flag("in_home", "--user", "Change the settings of this user.  [default]"),
)

GROUPS = {
    "memory": ("Show, add and search facts and workspace notes", ""),
    "facts": ("List facts and their history", ""),
    "context": (
        "Show where the tokens of a conversation go",
        """A transcript is any file that `import` reads: of Claude Code, Codex, Pi, OpenClaw, Gemini CLI, opencode,
        Aider or ChatGPT, JSON lines of messages in any provider's format, or a .json file with a list of them.""",
    ),
    "config": ("Show and check the settings", ""),
}
"""Groups of commands: summary and details."""

VERBS: tuple[Verb, ...] = (
    Verb(
        "status",
        "Show context usage, compactions and duration of sessions",
        "store:show_status",
        in_chat=True,
    ),
    Verb(
        "search",
        "Search the archive; best matches first",
        "archive:search",
        details="""Segments that are not in memory are searched on disk as far as they are indexed; with --all,
        completely.

        \b
        memctx search which port has the webhook
        memctx search stripe --role user --since 2026-02-01T14:30 --json""",
        parameters=(
            words("query", "words"),
            result_limit(),
            Parameter(
                "roles",
                "Only messages of this role: user, assistant, tool.",
                "--role",
                is_repeated=True,
            ),
            Parameter("topics", "Only this topic.", "--topic", is_repeated=True),
            Parameter(
                "since", "Only messages from this time on.", "--since", kind="time", metavar="UTC"
            ),
            Parameter(
                "until", "Only messages up to this time.", "--until", kind="time", metavar="UTC"
            ),
            Parameter(
                "min_score",
                "Lowest score to show; 0 shows all.",
                "--min-score",
                kind="number",
                minimum=0,
                maximum=1,
                default=0.001,
            ),
            Parameter(
                "ranking",
                "Ranking function.  [default: the setting `recall.ranking`]",
                "--ranking",
                metavar="NAME",
            ),
            Parameter(
                "window",
                "Neighbors to show on either side of each hit.",
                "--around",
                kind="integer",
                minimum=0,
            ),
            flag("explain", "--explain", "Explain each score."),
            flag(
                "everything",
                "--all",
                "Index what is not indexed yet, and search everything.",
                in_chat=True,
            ),
        ),
        in_chat=True,
    ),
    Verb(
        "show",
        "Show one archived message and its neighbors",
        "archive:show",
        details="ID may be a prefix of an id, as `search` shows it.",
        parameters=(
            id_prefix("the id of a segment"),
            Parameter(
                "neighbors",
                "Neighbors to show on either side.",
                "--around",
                kind="integer",
                minimum=0,
                default=2,
            ),
        ),
        in_chat=True,
    ),
    Verb("stats", "Show counts and sizes of the store", "store:show_stats", in_chat=True),
    Verb(
        "memory show",
        "Show workspace files and the newest facts, or one file",
        "facts:show_memory",
        parameters=(Parameter("name", "the name of a file", metavar="FILE", in_chat=True),),
        aliases=("memory",),
        in_chat=True,
    ),
    Verb(
        "memory add",
        "Add a fact",
        "facts:add_fact",
        details="""The fact belongs to --session, or to the store's only session.

        \b
        memctx memory add The webhook listens on port 8443 --session s1""",
        parameters=(
            words("fact", "a fact"),
            Parameter(
                "type",
                f"Type of the fact: {', '.join(FACT_TYPES)}.",
                "--type",
                choices=FACT_TYPES,
                default=DEFAULT_FACT_TYPE,
                metavar="TYPE",
            ),
            Parameter("context", "Where the fact came up.", "--context"),
        ),
        in_chat=True,
    ),
    Verb(
        "memory forget",
        "Retract a fact; its history is kept",
        "facts:forget_fact",
        parameters=(id_prefix("the id of a fact"), YES),
        in_chat=True,
    ),
    Verb(
        "memory search",
        "Search facts, notes and the archive",
        "facts:search_memory",
        parameters=(words("query", "words"), result_limit()),
        in_chat=True,
    ),
    Verb(
        "facts list",
        "List active facts, newest first",
        "facts:list_facts",
        parameters=(
            Parameter(
                "types",
                f"Only facts of this type: {', '.join(FACT_TYPES)}.",
                "--type",
                choices=FACT_TYPES,
                is_repeated=True,
                metavar="TYPE",
            ),
            result_limit(None),
            flag("include_superseded", "--all", "Include superseded facts."),
        ),
        aliases=("facts",),
        in_chat=True,
    ),
    Verb(
        "facts history",
        "Show the states of a fact, oldest first",
        "facts:show_history",
        parameters=(id_prefix("the id of a fact"),),
        in_chat=True,
    ),
    Verb(
        "context list",
        "Show the token cost of each component of a conversation",
        "context:list_components",
        parameters=READ_TRANSCRIPT,
        common=("config", "json"),
        aliases=("context",),
        in_chat=True,
    ),
    Verb(
        "context detail",
        "Show the token cost by file, tool and message",
        "context:show_detail",
        details="The result also lists the messages that the next turn would shorten or leave out.",
        parameters=READ_TRANSCRIPT,
        common=("config", "json"),
        in_chat=True,
    ),
    Verb(
        "compact",
        "Summarize all but the newest messages of a session",
        "context:compact",
        details="""Removed messages are archived in the store first. The session file is only appended to; a file of an
        older version is rewritten beside a backup. INSTRUCTIONS are passed to the summarizer.

        \b
        memctx compact session.jsonl Focus on decisions and open questions --yes""",
        parameters=(
            TRANSCRIPT,
            words("instructions", "instructions", is_required=False),
            WINDOW,
            *LIMITS,
            YES,
        ),
        in_chat=True,
    ),
    Verb(
        "replay",
        "Replay a recorded session and show the effect of memory",
        "transcripts:replay_transcript",
        details="""TRANSCRIPT is any file that `import` reads. Its turns are prepared one by one in a scratch store. The
        result shows what is pruned, trimmed and recalled, what the prompt cache saves, and how long each turn takes.
        With --html, it is also written as one self-contained page.""",
        parameters=(
            TRANSCRIPT,
            WINDOW,
            Parameter("page", "HTML file to write.", "--html", kind="file"),
            SESSION,
            *LIMITS,
        ),
        common=("config", "json"),
    ),
    Verb(
        "report",
        "Write the replay of a recorded session as an HTML page",
        "transcripts:write_report",
        details="PAGE defaults to the name of the transcript, in the current directory.",
        parameters=(
            TRANSCRIPT,
            Parameter("page", "the HTML file to write", kind="file"),
            WINDOW,
            SESSION,
            *LIMITS,
        ),
        common=("config", "json"),
    ),
    Verb(
        "import",
        "Import transcripts of other hosts: a file or a folder",
        "transcripts:import_files",
        details="""Reads transcripts of Claude Code, Codex, Pi, OpenClaw, Gemini CLI, opencode and Aider, ChatGPT
        exports, and JSON lines of messages. Sessions keep their ids, a subagent has a session of its own, secrets are
        masked, and nothing is stored twice; an interrupted import resumes.""",
        parameters=(
            Parameter(
                "source", "a file or a folder", kind="path", is_required=True, must_exist=True
            ),
            Parameter("format", "Format of SOURCE.  [default: detected for each file]", "--format"),
            flag("extract", "--extract", "Also extract facts."),
            *LIMITS,
        ),
        common=("store", "config", "json"),
    ),
    Verb(
        "export",
        "Export the archive as JSON lines or Markdown",
        "transcripts:export_store",
        parameters=(
            Parameter("target", "the file to write", kind="file", is_required=True),
            flag("is_markdown", "--markdown", "Write Markdown instead of JSON lines."),
            flag("force", "--force", "Replace TARGET if it exists."),
        ),
    ),
    Verb(
        "verify",
        "Read the whole store and report damage",
        "store:verify",
        details="With --repair, damaged lines are moved to a file beside their log, and derived files are rebuilt.",
        parameters=(flag("repair", "--repair", "Move damaged lines out of the way."), YES),
        common=("store", "config", "json"),
        in_chat=True,
    ),
    Verb(
        "reindex",
        "Index on disk what is not indexed yet",
        "store:reindex",
        details="""Agents do this in the background; the command is for after a large import. The index is derived from
        the log and may be deleted at any time.""",
        parameters=(
            flag("rebuild", "--rebuild", "Delete the index and index everything.", in_chat=True),
        ),
        common=("store", "config", "json"),
        in_chat=True,
    ),
    Verb(
        "reembed",
        "Embed all segments with the configured model",
        "store:reembed",
        details="""Agents do this in the background. An interrupted run resumes. The existing vectors are kept until all
        new ones are written.""",
        parameters=(
            Parameter(
                "model",
                "Embedding model.  [default: the setting `embedding_model`]",
                "--model",
                metavar="NAME",
            ),
        ),
        common=("store", "config", "json"),
        in_chat=True,
    ),
    Verb(
        "gc",
        "Delete old segments, one session, or only leftover files",
        "store:collect_garbage",
        details="""The only command that deletes archived messages. Facts are deleted only with their whole session.""",
        parameters=(
            Parameter(
                "older_than",
                "Delete segments older than this.",
                "--older-than",
                kind="number",
                metavar="DAYS",
            ),
            YES,
        ),
    ),
    Verb(
        "bench",
        "Measure speed on this machine, in a scratch store",
        "bench:run_bench",
        parameters=(
            Parameter(
                "messages",
                "Messages to archive.  [default: 5000; 20000 with --trim]",
                "--messages",
                kind="integer",
                minimum=MIN_BENCH_MESSAGES,
            ),
            flag("is_profile", "--trim", "Profile a trim instead, step by step."),
            Parameter(
                "profiled_store",
                "With --trim, a store whose copy is profiled.",
                "--store",
                kind="folder",
                must_exist=True,
            ),
        ),
        common=("json",),
    ),
    Verb(
        "config show",
        "List every setting, its value and its source",
        "diagnostics:show_settings",
        common=("config", "json"),
    ),
    Verb(
        "config check",
        "Check the settings in FILE and in the environment",
        "diagnostics:check_settings",
        parameters=(Parameter("file", "a settings file", kind="file"),),
        common=("config", "json"),
    ),
    Verb(
        "doctor",
        "Check the installation, the settings and the store",
        "diagnostics:run_doctor",
        common=("store", "config", "json"),
    ),
    Verb(
        "install",
        "Add memory to an agent host: hooks and the MCP server",
        "hosts:install_host",
        details="""HOST is claude-code, codex, gemini, cursor or opencode. The changes of its settings files are shown
        first; comments and formatting are kept, and each file is backed up beside it.

        \b
        memctx install claude-code
        memctx install codex --project --yes""",
        parameters=(
            HOST,
            *SCOPES,
            flag("trust", "--trust", "Tell Codex that you trust these hooks."),
            YES,
        ),
        common=("json",),
    ),
    Verb(
        "uninstall",
        "Remove memory from an agent host; the store is kept",
        "hosts:uninstall_host",
        details="A settings file that has not changed since is as it was before, to the byte.",
        parameters=(HOST, *SCOPES, YES),
        common=("json",),
    ),
    Verb(
        "hook",
        "Answer a hook of an agent host; hosts call it",
        "hosts:run_hook",
        details="""Reads the payload of EVENT from stdin and prints the host's form of an answer. Whatever fails, it
        prints nothing and exits with 0, so that the host goes on; hosts/hooks.log in the store has the error.""",
        parameters=(
            Parameter("event", "the name of the event", is_required=True),
            Parameter(
                "host", "Host that runs the hook.  [default: detected]", "--host", metavar="HOST"
            ),
        ),
        common=("store",),
    ),
    Verb(
        "mcp",
        "Serve the memory to MCP clients",
        "mcp:run_mcp",
        details="""Over stdin and stdout, for clients that start the command; with --http, over streamable HTTP at
        /mcp. HTTP requests need the bearer token in $MEMCTX_MCP_TOKEN or --token-file; without either, a token is
        made and printed. It needs memctx[mcp].

        \b
        memctx mcp --session my-project
        memctx mcp --http --port 8765 --all-sessions""",
        parameters=(
            Parameter(
                "session_id",
                "Session to store facts in and to read.  [default: mcp]",
                "--session",
                metavar="ID",
            ),
            flag("all_sessions", "--all-sessions", "Read all sessions of the store."),
            Parameter(
                "project",
                "Read the sessions of hosts in this project folder.",
                "--project",
                kind="folder",
                metavar="DIR",
            ),
            Parameter(
                "max_tokens",
                "Most tokens of an answer.  [default: 4000]",
                "--max-tokens",
                kind="integer",
                minimum=MIN_ANSWER_TOKENS,
            ),
            flag("is_http", "--http", "Serve over HTTP instead of stdio."),
            Parameter("host", "Address to listen on.  [default: 127.0.0.1]", "--host"),
            Parameter(
                "port",
                "Port to listen on; 0 for any free one.  [default: 8765]",
                "--port",
                kind="integer",
                minimum=0,
            ),
            Parameter("token_file", "File with the bearer token.", "--token-file", kind="file"),
            Parameter(
                "origins",
                "Origin of a web page that may connect.",
                "--allow-origin",
                is_repeated=True,
                metavar="URL",
            ),
        ),
        common=("store", "config"),
    ),
    Verb(
        "serve",
        "Keep memories open for hooks and plugins",
        "serve:run_server",
        details="""Answers at a Unix socket that only its user can reach, and exits when it is not used. Hooks start
        it themselves, and do without where it does not run; MEMCTX_SERVE=off in the environment keeps them from it.

        \b
        memctx serve --background --json
        memctx serve --stop""",
        parameters=(
            Parameter(
                "idle_seconds",
                "Seconds without requests after which it exits.  [default: 600]",
                "--idle",
                kind="number",
                minimum=0,
                metavar="SECONDS",
            ),
            flag("is_background", "--background", "Return when it answers; it stays running."),
            flag("is_stopping", "--stop", "Stop the one that is running."),
        ),
        common=("store", "json"),
    ),
    Verb(
        "new",
        "Archive the conversation and start a new session",
        "chat:start_session",
        in_shell=False,
        in_chat=True,
    ),
    Verb(
        "reset",
        "Archive the conversation and restart this session",
        "chat:reset_session",
        in_shell=False,
        in_chat=True,
    ),
    Verb("memctx", "List the slash commands", "chat:show_help", in_shell=False, in_chat=True),
)
