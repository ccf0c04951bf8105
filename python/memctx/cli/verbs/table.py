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
MIN_PROFILE_SEGMENTS = 100
MIN_PROFILE_WINDOW = 2_000
MIN_ANSWER_TOKENS = 200

HOSTS = ("claude-code", "codex", "gemini", "cursor", "opencode")
HOST = Parameter("host", "an agent host", is_required=True, choices=HOSTS, metavar="HOST")
SCOPES = (
    flag("in_project", "--project", "Change the settings of the project in this folder."),
    flag("in_home", "--user", "Change the settings of this user.  [default]"),
)

ADDRESS = Parameter("address", "the address of the server", is_required=True)
NAMESPACE = Parameter(
    "namespace", "Namespace on the server.", "--namespace", metavar="NAME", default="default"
)

GROUPS = {
    "facts": ("List, search, add and retract facts", ""),
    "context": (
        "Show where the tokens of a conversation go",
        """A transcript is any file that `import` reads: of Claude Code, Codex, Pi, OpenClaw, Gemini CLI, opencode,
        Aider or ChatGPT, JSON lines of messages in any provider's format, or a .json file with a list of them.""",
    ),
    "config": ("Show and check the settings", ""),
    "fleet": (
        "Administer memory on a PostgreSQL server",
        """ADDRESS is postgresql://user@host/database. A password in it can be seen by other users of this machine:
        leave it out, and use PGPASSWORD, a password file or a service file, which are read as psql does.""",
    ),
}
"""Groups of commands: summary and details."""

VERBS: tuple[Verb, ...] = (
    Verb(
        "status",
        "List sessions: context usage, compactions, duration",
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
    Verb(
        "sizes",
        "Show what the store holds, in counts and bytes",
        "store:show_stats",
        aliases=("stats",),
        in_chat=True,
    ),
    Verb(
        "notes",
        "Show workspace files and the newest facts, or one file",
        "facts:show_memory",
        parameters=(Parameter("name", "the name of a file", metavar="FILE", in_chat=True),),
        chat_name="memory show",
        aliases=("memory",),
        in_chat=True,
    ),
    Verb(
        "facts add",
        "Add a fact",
        "facts:add_fact",
        details="""The fact belongs to --session, or to the store's only session.

        \b
        memctx facts add The webhook listens on port 8443 --session s1""",
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
        chat_name="memory add",
        in_chat=True,
    ),
    Verb(
        "facts forget",
        "Retract a fact; its history is kept",
        "facts:forget_fact",
        parameters=(id_prefix("the id of a fact"), YES),
        chat_name="memory forget",
        in_chat=True,
    ),
    Verb(
        "facts search",
        "Search facts, with notes and messages that answer too",
        "facts:search_memory",
        parameters=(words("query", "words"), result_limit()),
        chat_name="memory search",
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
            Parameter(
                "price",
                "Dollars for a million input tokens, for the page.",
                "--price",
                kind="number",
                minimum=0,
                default=1.0,
                metavar="DOLLARS",
            ),
            Parameter(
                "beside",
                "Settings file to replay with, too; the page compares both.",
                "--beside",
                kind="file",
                must_exist=True,
            ),
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
        details="At a terminal it asks before it replaces a file; elsewhere it refuses without --force.",
        parameters=(
            Parameter("target", "the file to write", kind="file", is_required=True),
            flag("is_markdown", "--markdown", "Write Markdown instead of JSON lines."),
            flag("force", "--force", "Replace TARGET if it exists, without asking."),
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
        "push",
        "Send the whole store to a PostgreSQL server",
        "fleet:push",
        details="""Continues where an earlier run was interrupted, and compares both sides afterwards.""",
        parameters=(ADDRESS, NAMESPACE),
        common=("store", "json"),
    ),
    Verb(
        "pull",
        "Fetch a namespace of a PostgreSQL server into the store",
        "fleet:pull",
        details="""Continues where an earlier run was interrupted, and compares both sides afterwards.""",
        parameters=(ADDRESS, NAMESPACE),
        common=("store", "json"),
    ),
    Verb(
        "fleet migrate",
        "Create the schema, or bring it up to date",
        "fleet:migrate",
        parameters=(ADDRESS,),
        common=("json",),
    ),
    Verb(
        "fleet add",
        "Create a namespace that belongs to a database role",
        "fleet:add_namespace",
        parameters=(
            ADDRESS,
            Parameter("namespace", "the name of the namespace", is_required=True),
            Parameter("role", "Role that owns the namespace.  [default: the name]", "--role"),
            flag("is_new", "--create-role", "Create the role; its password is read from stdin."),
        ),
        common=("json",),
    ),
    Verb(
        "fleet status",
        "Show versions, namespaces, sizes and lag",
        "fleet:show_status",
        parameters=(ADDRESS,),
        common=("json",),
    ),
    Verb(
        "fleet verify",
        "Check every row of a namespace on the server",
        "fleet:verify",
        parameters=(ADDRESS, NAMESPACE),
        common=("json",),
    ),
    Verb(
        "fleet gc",
        "Delete old segments and what belongs to nothing, and vacuum",
        "fleet:collect_garbage",
        parameters=(
            ADDRESS,
            Parameter(
                "older_than",
                "Delete segments older than this; facts stay.",
                "--older-than",
                kind="number",
                metavar="DAYS",
            ),
            Parameter("namespace", "Only of this namespace.", "--namespace", metavar="NAME"),
            flag("rewrite", "--rewrite", "Leave no deleted byte in the files; locks the tables."),
            YES,
        ),
        common=("json",),
    ),
    Verb(
        "fleet erase",
        "Erase one session, or a whole namespace, for good",
        "fleet:erase",
        details="""Caches of hosts drop an erased session when they next ask the server, and its name is refused from
        then on. `fleet gc --rewrite` takes the deleted bytes out of the files of the server.""",
        parameters=(
            ADDRESS,
            Parameter(
                "namespace", "The namespace.", "--namespace", metavar="NAME", is_required=True
            ),
            Parameter("session", "Only this session of it.", "--session", metavar="ID"),
            YES,
        ),
        common=("json",),
    ),
    Verb(
        "bench",
        "Measure speed on this machine, in a scratch store",
        "bench:run_bench",
        parameters=(
            Parameter(
                "messages",
                "Messages to archive.",
                "--messages",
                kind="integer",
                minimum=MIN_BENCH_MESSAGES,
                default=5_000,
            ),
        ),
        common=("json",),
    ),
    Verb(
        "profile",
        "Show where the time of turns, searches and archiving goes",
        "profile:run_profile",
        details="""Plays conversations that outgrow their window over a synthetic store, or over a copy of STORE, which
        is only read. Nothing is sent to a server. A flame graph needs memctx[profile].

        \b
        memctx profile
        memctx profile --store ~/.memctx --flame-graph trim.svg""",
        parameters=(
            Parameter(
                "segments",
                "Segments of the synthetic store.  [default: 20000]",
                "--segments",
                kind="integer",
                minimum=MIN_PROFILE_SEGMENTS,
            ),
            Parameter(
                "store",
                "A store whose copy is profiled.",
                "--store",
                kind="folder",
                must_exist=True,
            ),
            Parameter(
                "window",
                "Window of the conversations, in tokens.",
                "--window",
                kind="integer",
                minimum=MIN_PROFILE_WINDOW,
                default=32_000,
            ),
            Parameter(
                "turns",
                "Turns of each conversation; also the number of other calls.",
                "--turns",
                kind="integer",
                minimum=1,
                default=60,
            ),
            Parameter(
                "flame_graph",
                "File to write a flame graph to, an SVG.",
                "--flame-graph",
                kind="file",
            ),
        ),
        common=("config", "json"),
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
        "ui",
        "Open a page to browse, search, correct and forget",
        "ui:run_ui",
        details="""Serves the store on loopback, at a port of its own, to the one browser that opens the printed
        address first. It is read-only without --write, and needs memctx[ui].

        \b
        memctx ui
        memctx ui --store ~/.memctx --write
        memctx ui postgresql://team-a@db.internal/agents --namespace team-a""",
        parameters=(
            Parameter("address", "the address of a PostgreSQL server, in place of a directory"),
            Parameter(
                "namespace",
                "Namespace on the server.  [default: the setting]",
                "--namespace",
                metavar="NAME",
            ),
            flag("may_write", "--write", "Allow the page to edit and forget facts."),
            flag("is_quiet", "--no-browser", "Only print the address."),
            Parameter(
                "port",
                "Port to listen on.  [default: any free one]",
                "--port",
                kind="integer",
                minimum=0,
            ),
        ),
        common=("store", "config"),
    ),
    Verb(
        "demo",
        "Show what memory recalls and truncation has lost",
        "demo:run_demo",
        details="A session is played and asked about in a scratch store, without a model or a network.",
        parameters=(
            Parameter("page", "Also write the session as an HTML page.", "--html", kind="file"),
        ),
        common=("json",),
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
