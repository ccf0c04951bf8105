//! English words, and names of things that may stand for one another.

use super::lexicon::flag::{
    ATTRIBUTE, AUXILIARY, BREAK, CHANGE, COUNTS, DIRECTED, FILLER, FROM, INSTEAD, INVERTS, LIGHT, MANY, NEGATES,
    PENDING, PIVOT, PLACE_OF_MANY, QUALIFY, REASON, SWAP, TO, USE, WITHOUT,
};

/// Words by what they do. An inflected form does the same.
pub(super) const VERBS: [(u32, &str); 16] = [
    (LIGHT | PIVOT, "run listen live sit locate reside be go configure set define specify make do"),
    (LIGHT | PIVOT | USE, "use utilize utilise adopt choose pick have"),
    (
        LIGHT,
        "add keep introduce retain decide settle agree remember note want prefer perform happen start begin ensure turn",
    ),
    (LIGHT | CHANGE, "change move bump"),
    (LIGHT | CHANGE | COUNTS, "upgrade downgrade raise lower increase decrease reduce extend"),
    (LIGHT | CHANGE | SWAP, "switch migrate rename replace convert swap transition"),
    (NEGATES | LIGHT, "remove drop delete cancel abandon revert discard stop deprecate retire avoid skip scrap omit"),
    (PIVOT | MANY, "support include accept provide contain offer need require allow handle export import expose"),
    (PIVOT | DIRECTED, "depend call block extend own precede follow inherit wrap trigger"),
    (PIVOT | INVERTS, "maintain lead"),
    (PIVOT, "store write deploy host target point default name return load read save build serve limit pin expire"),
    (PIVOT, "belong equal mean weigh cost take connect log retry send emit push pull publish render respond"),
    (PENDING | LIGHT, "plan intend"),
    (
        ATTRIBUTE,
        "port timeout theme branch license licence version region owner level limit mode format strategy policy",
    ),
    (ATTRIBUTE, "name path url endpoint directory folder language timezone locale encoding size color colour title"),
    (ATTRIBUTE, "type status default deadline budget schedule command host database image"),
];

/// Words that have no other forms, or whose other forms do something else.
pub(super) const WORDS: [(u32, &str); 19] = [
    (
        FILLER,
        "a an the this that these those it its we our us you your i my me he she they their them there here of and \
         also too very just really quite so then when where which who whom whose what how while again already now \
         currently still even always please yes ok okay let lets s t re ll ve d m e.g i.e etc eg ie am been being \
         decision fact rule reminder fyi onwards henceforth correction update",
    ),
    (FILLER | COUNTS, "or as at by into onto out about via per than longer with on in through until till"),
    (FILLER | PIVOT, "is are was were"),
    (FILLER | AUXILIARY, "be would does do did get gets got"),
    (FILLER | AUXILIARY | COUNTS, "must should shall may might can could"),
    (FILLER | AUXILIARY | PENDING, "will"),
    (PENDING | FILLER, "todo wip upcoming next tbd planned going"),
    (NEGATES, "not never no cannot dont don't doesn't neither nor none nobody nothing without-any unable"),
    (NEGATES, "previously formerly originally"),
    (WITHOUT, "without except excluding"),
    (INSTEAD, "instead rather"),
    (FROM | COUNTS, "from"),
    (TO | COUNTS, "to"),
    (QUALIFY, "for within inside regarding concerning among"),
    (REASON, "because since due reason otherwise so-that"),
    (BREAK, "but however although though whereas"),
    (DIRECTED, "before after"),
    (PLACE_OF_MANY, "staging production prod dev development local qa preprod sandbox canary"),
    (FILLER, "everyone team project codebase repo app-wide system-wide"),
];

/// Values that may stand for one another. `=` joins spellings of the same one, `!` says that it is the opposite of the
/// one before it. The first rows are values wherever they stand.
pub(super) const VALUES: [&str; 49] = [
    "monday=mon=mondays tuesday=tue=tuesdays wednesday=wed=wednesdays thursday=thu=thursdays friday=fri=fridays \
     saturday=sat=saturdays sunday=sun=sundays daily weekly biweekly monthly quarterly yearly=annually nightly hourly \
     weekday=weekdays weekend=weekends",
    "january=jan february=feb march april=apr june=jun july=jul august=aug september=sep october=oct november=nov \
     december=dec",
    "open fixed=done=resolved=finished=completed=complete=closed=implemented=merged=shipped=solved blocked=stuck \
     pending=unresolved=waiting in-progress=ongoing=started failing=failed=broken passing=passed=green=working",
    "dark light above=over=exceed below=under least=minimum=min most=maximum=max less more fewer greater >= <= > < up down",
    "all=every=each=any=everyone=anyone=everybody=anybody some=several half both few only=solely=exclusively",
    "postgres=postgresql=pg=psql mysql mariadb sqlite=sqlite3 mongodb=mongo dynamodb cockroachdb=cockroach cassandra \
     oracle mssql redis duckdb clickhouse supabase firestore couchdb neo4j snowflake bigquery planetscale neon \
     elasticsearch opensearch s3 gcs minio",
    "redis memcached memcache valkey hazelcast varnish",
    "rabbitmq kafka nats sqs redis pulsar celery sidekiq bullmq zeromq temporal pubsub",
    "python=py javascript=js typescript=ts rust go=golang java kotlin scala ruby php c c++=cpp c#=csharp swift elixir \
     erlang haskell clojure dart lua perl zig ocaml bash",
    "react=reactjs=react.js vue=vue.js=vuejs svelte angular solid=solidjs preact ember htmx alpine.js lit qwik",
    "next.js=nextjs nuxt=nuxt.js remix sveltekit astro gatsby",
    "django flask fastapi starlette tornado aiohttp sanic litestar",
    "express=express.js koa fastify nestjs hono hapi",
    "spring quarkus micronaut rails laravel symfony phoenix gin actix axum rocket warp",
    "npm yarn pnpm bun",
    "pip poetry uv pipenv conda pdm hatch",
    "webpack vite rollup esbuild parcel turbopack rspack",
    "jest vitest mocha jasmine ava",
    "pytest unittest nose",
    "playwright cypress selenium puppeteer",
    "github-actions gitlab-ci jenkins circleci travis buildkite drone teamcity",
    "aws gcp azure digitalocean hetzner linode ovh",
    "netlify vercel cloudflare heroku render fly.io=fly railway",
    "github gitlab bitbucket gitea codeberg",
    "linux ubuntu debian alpine fedora centos windows macos=osx",
    "eslint biome jshint oxlint",
    "ruff flake8 pylint",
    "black yapf autopep8",
    "mypy pyright pyre",
    "jwt=jwts cookies=cookie session-cookies oauth=oauth2 saml oidc basic-auth api-keys sessions",
    "rest graphql grpc soap trpc websocket=websockets sse",
    "json yaml=yml toml xml csv ini protobuf avro parquet msgpack",
    "nginx apache caddy traefik haproxy envoy",
    "docker podman containerd",
    "kubernetes=k8s nomad swarm ecs",
    "prisma typeorm sequelize drizzle sqlalchemy tortoise peewee hibernate",
    "mit apache-2.0 gpl bsd lgpl agpl mpl",
    "datadog grafana prometheus newrelic sentry splunk kibana honeycomb",
    "vim neovim emacs vscode intellij",
    "main=trunk master develop",
    "tabs=tab spaces=space",
    "snake_case camelcase kebab-case pascalcase",
    "tailwind bootstrap sass less-css styled-components",
    "axios fetch ky superagent",
    "claude gpt gemini llama mistral deepseek qwen",
    "gzip zstd brotli lz4 snappy deflate",
    "bcrypt argon2 scrypt pbkdf2 md5 sha1 sha256",
    "debug info warn=warning trace verbose",
    "english chinese japanese korean german french spanish",
];

/// Values that are everyday words unless they have a capital.
pub(super) const AMBIGUOUS: [&str; 14] = [
    "c", "drone", "express", "fly", "go", "lit", "march", "oracle", "phoenix", "render", "rest", "solid", "spring",
    "swift",
];

/// Words and the word that they are the opposite of.
pub(super) const OPPOSITES: [(&str, &str); 24] = [
    ("disable", "enable"),
    ("off", "enable"),
    ("inactive", "enable"),
    ("active", "=enable"),
    ("on-by-default", "=enable"),
    ("private", "public"),
    ("optional", "require"),
    ("mandatory", "=require"),
    ("obligatory", "=require"),
    ("necessary", "=require"),
    ("async", "sync"),
    ("asynchronous", "sync"),
    ("asynchronously", "sync"),
    ("synchronous", "=sync"),
    ("synchronously", "=sync"),
    ("forbid", "allow"),
    ("deny", "allow"),
    ("disallow", "allow"),
    ("ban", "allow"),
    ("prohibit", "allow"),
    ("permit", "=allow"),
    ("exclude", "include"),
    ("reject", "accept"),
    ("false", "true"),
];

/// Forms that no rule of endings finds.
pub(super) const IRREGULAR: [(&str, &str); 28] = [
    ("used", "use"),
    ("using", "use"),
    ("built", "build"),
    ("written", "write"),
    ("wrote", "write"),
    ("ran", "run"),
    ("chosen", "choose"),
    ("chose", "choose"),
    ("kept", "keep"),
    ("sent", "send"),
    ("held", "hold"),
    ("went", "go"),
    ("goes", "go"),
    ("made", "make"),
    ("done", "done"),
    ("began", "begin"),
    ("begun", "begin"),
    ("took", "take"),
    ("taken", "take"),
    ("has", "have"),
    ("had", "have"),
    ("caching", "cache"),
    ("authentication", "auth"),
    ("authorization", "authz"),
    ("configuration", "config"),
    ("db", "database"),
    ("databases", "database"),
    ("env", "environment"),
];
