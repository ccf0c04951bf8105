//! The words that the rule knows: what holds a statement together, what turns it, and what may stand for what.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashMap;

use super::stem::stem;
use crate::text::{Term, is_cjk};

/// What a word does to a statement, as bits.
pub(super) mod flag {
    /// Says nothing.
    pub(crate) const FILLER: u32 = 1;
    /// A verb so general that another may stand in its place.
    pub(crate) const LIGHT: u32 = 1 << 1;
    /// Ends the subject.
    pub(crate) const PIVOT: u32 = 1 << 2;
    /// A pivot that may have many objects side by side.
    pub(crate) const MANY: u32 = 1 << 3;
    /// A pivot that may have many objects, of different kinds.
    pub(crate) const USE: u32 = 1 << 4;
    /// A pivot whose subject is the answer: "Alice owns it".
    pub(crate) const INVERTS: u32 = 1 << 5;
    /// Turns its clause into the opposite.
    pub(crate) const NEGATES: u32 = 1 << 6;
    /// Turns what follows into the opposite.
    pub(crate) const WITHOUT: u32 = 1 << 7;
    /// What follows is what no longer holds.
    pub(crate) const INSTEAD: u32 = 1 << 8;
    /// What stands before is what no longer holds.
    pub(crate) const NOT_BEFORE: u32 = 1 << 9;
    /// What follows is what no longer holds, if the clause speaks of a change.
    pub(crate) const FROM: u32 = 1 << 10;
    /// What stands before is what no longer holds, if the clause speaks of a change.
    pub(crate) const FROM_BEFORE: u32 = 1 << 11;
    /// Ends what no longer holds.
    pub(crate) const TO: u32 = 1 << 12;
    /// Speaks of a change.
    pub(crate) const CHANGE: u32 = 1 << 13;
    /// Speaks of one thing that takes the place of another.
    pub(crate) const SWAP: u32 = 1 << 14;
    /// Says which of several is meant.
    pub(crate) const QUALIFY: u32 = 1 << 15;
    /// Begins a reason.
    pub(crate) const REASON: u32 = 1 << 16;
    /// Says that it is still to be done.
    pub(crate) const PENDING: u32 = 1 << 17;
    /// Ends a clause.
    pub(crate) const BREAK: u32 = 1 << 18;
    /// Its sides may not be exchanged.
    pub(crate) const DIRECTED: u32 = 1 << 19;
    /// One of several places of the same thing.
    pub(crate) const PLACE_OF_MANY: u32 = 1 << 20;
    /// Stands between subject and verb: "must", "does".
    pub(crate) const AUXILIARY: u32 = 1 << 21;
    /// A general word for what a thing is like: has one value.
    pub(crate) const ATTRIBUTE: u32 = 1 << 22;
}

use flag::{
    ATTRIBUTE, AUXILIARY, BREAK, CHANGE, DIRECTED, FILLER, FROM, FROM_BEFORE, INSTEAD, INVERTS, LIGHT, MANY, NEGATES,
    NOT_BEFORE, PENDING, PIVOT, PLACE_OF_MANY, QUALIFY, REASON, SWAP, TO, USE, WITHOUT,
};

/// What may stand in a word's place, as bits: two values with a bit in common answer the same question.
pub(super) mod class {
    /// A number, an amount, a version, a date.
    pub(crate) const NUMBER: u64 = 1;
    /// What a number counts.
    pub(crate) const UNIT: u64 = 1 << 1;
    /// A path, a file, an address.
    pub(crate) const PLACE: u64 = 1 << 2;
    /// An identifier, a quotation, a name that is not known.
    pub(crate) const NAME: u64 = 1 << 3;
    /// The first of the classes that the tables below define.
    pub(crate) const FIRST_TABLE: u32 = 4;
    /// Values wherever they stand.
    pub(crate) const ALWAYS: u64 = NUMBER | UNIT | 0b1111 << FIRST_TABLE;
}

/// Words by what they do. An inflected form does the same.
const VERBS: [(u32, &str); 15] = [
    (LIGHT | PIVOT, "run listen live sit locate reside be go configure set define specify make do"),
    (LIGHT | PIVOT | USE, "use utilize utilise adopt choose pick have"),
    (LIGHT, "add keep introduce retain decide settle agree remember note want prefer perform happen start begin ensure turn"),
    (LIGHT | CHANGE, "change move bump upgrade downgrade raise lower increase decrease reduce extend"),
    (LIGHT | CHANGE | SWAP, "switch migrate rename replace convert swap transition"),
    (NEGATES | LIGHT, "remove drop delete cancel abandon revert discard stop deprecate retire avoid skip scrap omit"),
    (PIVOT | MANY, "support include accept provide contain offer need require allow handle export import expose"),
    (PIVOT | DIRECTED, "depend call block extend own precede follow inherit wrap trigger"),
    (PIVOT | INVERTS, "maintain lead"),
    (PIVOT, "store write deploy host target point default name return load read save build serve limit pin expire"),
    (PIVOT, "belong equal mean weigh cost take connect log retry send emit push pull publish render respond"),
    (PENDING | LIGHT, "plan intend"),
    (ATTRIBUTE, "port timeout theme branch license licence version region owner level limit mode format strategy policy"),
    (ATTRIBUTE, "name path url endpoint directory folder language timezone locale encoding size color colour title"),
    (ATTRIBUTE, "type status default deadline budget schedule command host database image"),
];

/// Words that have no other forms, or whose other forms do something else.
const WORDS: [(u32, &str); 18] = [
    (
        FILLER,
        "a an the this that these those it its we our us you your i my me he she they their them there here of and or \
         also too very just really quite so as at by into onto out up about via per each every all any some both such \
         than then when where which who whom whose what how while longer again already now currently still only even \
         always please yes ok okay let lets s t re ll ve d m e.g i.e etc eg ie one's am been being \
         decision fact rule reminder fyi instead-of onwards henceforth correction update",
    ),
    (FILLER | PIVOT, "is are was were"),
    (FILLER | AUXILIARY, "be must should may might can could would shall does do did get gets got"),
    (FILLER | AUXILIARY | PENDING, "will"),
    (PENDING | FILLER, "todo wip upcoming next tbd planned going"),
    (NEGATES, "not never no cannot dont don't doesn't neither nor none nobody nothing without-any unable"),
    (NEGATES, "previously formerly originally"),
    (WITHOUT, "without except excluding"),
    (INSTEAD, "instead rather"),
    (FROM, "from"),
    (TO, "to into"),
    (FILLER, "with on in"),
    (QUALIFY, "for within inside under regarding concerning among"),
    (REASON, "because since due reason otherwise so-that"),
    (BREAK, "but however although though whereas"),
    (DIRECTED, "before after"),
    (PLACE_OF_MANY, "staging production prod dev development local qa preprod sandbox canary"),
    (FILLER, "everyone team project codebase repo app-wide system-wide"),
];

/// Values that may stand for one another. `=` joins spellings of the same one, `!` says that it is the opposite of the
/// one before it. The first rows are values wherever they stand.
const VALUES: [&str; 45] = [
    "monday=mon=mondays tuesday=tue=tuesdays wednesday=wed=wednesdays thursday=thu=thursdays friday=fri=fridays \
     saturday=sat=saturdays sunday=sun=sundays daily weekly biweekly monthly quarterly yearly=annually nightly hourly \
     weekday=weekdays weekend=weekends",
    "january=jan february=feb march april=apr june=jun july=jul august=aug september=sep october=oct november=nov \
     december=dec",
    "open fixed=done=resolved=finished=completed=complete=closed=implemented=merged=shipped=solved blocked=stuck \
     pending=unresolved in-progress=ongoing=started failing=failed=broken passing=passed=green=working",
    "dark light above=over=exceed below at-least=minimum=min at-most=maximum=max less more fewer greater >= <= > <",
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
    "english chinese japanese korean german french spanish",
];

/// Values that are everyday words unless they have a capital.
const AMBIGUOUS: [&str; 14] = [
    "c", "drone", "express", "fly", "go", "lit", "march", "oracle", "phoenix", "render", "rest", "solid", "spring", "swift",
];

/// Words and the word that they are the opposite of.
const OPPOSITES: [(&str, &str); 24] = [
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
const IRREGULAR: [(&str, &str); 28] = [
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

/// Chinese, Japanese and Korean words by what they do.
const CJK: [(u32, &str); 19] = [
    (FILLER, "的 了 已 已经 也 都 就 和 与 及 并 并且 或 我们 你们 他们 我 你 这 那 这个 那个 个 一个 会 着 过 得 地 把 被 让 之 其 时 \
      进行 做 请 记住 记得 目前 现在 当前 应该 必须 要 可以 能 可 来 去 上 里 中 内 后 前 后续 所有 全部 统一 一致 一直 只 仅 \
      每 次 する します です ます いる ある この その ください 우리 우리는 그 이 저 및 또는 수 것 하다"),
    (LIGHT | PIVOT, "是 为 在 位于 运行 运行在 监听 设为 设置 设置为 配置为 等于 即 放在 存在 属于 は が"),
    (LIGHT | PIVOT | USE, "使用 用 采用 选用 用的是 用了 有 使う 使用する 使います 用いる 사용"),
    (LIGHT, "决定 选择 保留 添加 增加 加 新增 加入 加上 採用 決定 결정 추가"),
    (LIGHT | CHANGE | PIVOT | TO, "改为 改成 改用 换成 换为 换用 替换为 切换到 切换为 迁移到 升级到 升级为 调整为 变为 变成 提高到 降到"),
    (LIGHT | CHANGE, "改 更换 修改 变更 変更 移行 切り替え 切替 変える 변경 이전 전환 바꾸 교체"),
    (NEGATES, "不 没 没有 未 无 无需 不用 不再 不要 不能 不会 不可 不可以 别 勿 禁止 不准 不许 取消 停止 停用 移除 删除 去掉 弃用 放弃 废弃 \
      关闭 禁用 不是 并非 尚未 还没 还没有 之前 以前 原来 ない ません ないで なくなった しない しません ではない ではありません \
      じゃない 廃止 無効 削除 않 않는다 않다 않음 않습니다 안 못 없다 없음 없 아니다 아님 금지 중단 삭제 제거 말 마"),
    (WITHOUT, "除了 除 以外 なしで 없이"),
    (INSTEAD, "而不是 而非 不是用 取代 代替 替代"),
    (NOT_BEFORE, "ではなく じゃなく 대신 말고 아니라 の代わりに 代わりに"),
    (FROM, "从 由原来的"),
    (FROM_BEFORE, "から 에서"),
    (TO, "到 に へ 으로 로"),
    (QUALIFY, "对于 针对 关于 用于 用来 ために 위해"),
    (REASON, "因为 由于 所以 以便 ので ため 때문에 때문"),
    (PENDING, "待办 待处理 计划 打算 将 将要 准备 下一步 接下来 予定 예정 할일"),
    (PLACE_OF_MANY, "测试环境 生产环境 开发环境 预发环境 线上 本番 本番環境 開発環境 検証環境 ステージング 운영 개발 스테이징"),
    (PIVOT, "部署 部署在 保存 保存在 存放 存储 存储在 返回 指向 写 负责 依赖 保留期 返す 保存 置く 배포 저장 반환"),
    (PIVOT | MANY, "支持 包含 包括 提供 需要 要求 允许 必要 許可 サポート 지원 필요 허용 포함"),
];

/// Words of these languages that mean the same as an English one, or the opposite of it behind `!`.
const CJK_MEANINGS: [(&str, &str); 48] = [
    ("空格", "spaces"),
    ("制表符", "tabs"),
    ("端口", "port"),
    ("端口号", "port"),
    ("ポート", "port"),
    ("포트", "port"),
    ("数据库", "database"),
    ("データベース", "database"),
    ("데이터베이스", "database"),
    ("缓存", "cache"),
    ("キャッシュ", "cache"),
    ("캐시", "cache"),
    ("超时", "timeout"),
    ("超时时间", "timeout"),
    ("タイムアウト", "timeout"),
    ("타임아웃", "timeout"),
    ("开启", "enable"),
    ("启用", "enable"),
    ("打开", "enable"),
    ("有効", "enable"),
    ("关闭", "!enable"),
    ("禁用", "!enable"),
    ("停用", "!enable"),
    ("無効", "!enable"),
    ("允许", "allow"),
    ("許可", "allow"),
    ("허용", "allow"),
    ("禁止", "!allow"),
    ("금지", "!allow"),
    ("需要", "require"),
    ("必要", "require"),
    ("필요", "require"),
    ("可选", "!require"),
    ("公开", "public"),
    ("私有", "!public"),
    ("同步", "sync"),
    ("异步", "!sync"),
    ("秒", "second"),
    ("초", "second"),
    ("分钟", "minute"),
    ("分間", "minute"),
    ("분", "minute"),
    ("小时", "hour"),
    ("時間", "hour"),
    ("시간", "hour"),
    ("天", "day"),
    ("日間", "day"),
    ("毫秒", "millisecond"),
];

/// Values of these languages, as [`VALUES`].
const CJK_VALUES: [&str; 4] = [
    "周一=星期一=礼拜一=月曜日=月曜=월요일 周二=星期二=礼拜二=火曜日=火曜=화요일 周三=星期三=礼拜三=水曜日=水曜=수요일 \
     周四=星期四=礼拜四=木曜日=木曜=목요일 周五=星期五=礼拜五=金曜日=金曜=금요일 周六=星期六=礼拜六=土曜日=土曜=토요일 \
     周日=星期日=星期天=日曜日=日曜=일요일 每天=毎日=매일 每周=毎週=매주 每月=毎月=매월 工作日 周末",
    "上午=午前=오전 下午=午後=오후 凌晨 晚上 中午",
    "修复=已修复=解决=已解决=完成=已完成=已合并=完了=修正済み=완료=해결 阻塞 失败=失敗=실패 通过=成功=성공 进行中=進行中=진행",
    "以上=至少 以下=至多=最多 最大 最小 大于 小于 超过 低于",
];

/// Words that are only here so that they are not taken apart.
const CJK_WHOLE: &str = "用户 应用 调用 作用 通用 费用 引用 因为 作为 行为 认为 为了 正在 现有 有效 有效期 只有 拥有 重要 主要 \
     不同 不仅 不过 不但 不足 不变 不断 不错 但是 还是 于是 而是 服务 服务器 配置 文件 前端 后端 框架 接口 登录 注册 订单 环境 测试 生产 开发 \
     日志 项目 模块 版本 默认 语言 会话 队列 消息 备份 迁移 重试 依赖 安装 验证码 评论 匿名 微服务 无状态 无服务器 上传 下载 功能 开关 \
     分页 字段 回调 地址 构建 命令 环境变量 变量 评审 代码 按钮 颜色 时间 中文 英文 日文 韩文 上海 北京 深圳 广州 杭州 机房 限流 架构 设计 分支 \
     权限 认证 部署 数据 接口文档 文档 前后端 线程 进程 索引 密码 密钥 令牌 サービス サーバー ユーザー 注文 認証 環境 開発 設定 言語 화면 서버 서비스";

/// What is known of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The same for all spellings and forms.
    pub(super) key: Term,
    /// What it does.
    pub(super) flags: u32,
    /// What may stand in its place; 0 for a plain word.
    pub(super) class: u64,
}

/// All tables, ready to be looked up.
pub(super) struct Lexicon {
    words: FxHashMap<&'static str, Entry>,
    stems: FxHashMap<String, Entry>,
    cjk: AhoCorasick,
    cjk_entries: Vec<Entry>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

impl Lexicon {
    /// The one there is.
    pub(super) fn get() -> &'static Self {
        &LEXICON
    }

    /// What is known of a word in small letters.
    pub(super) fn word(&self, word: &str) -> Option<Entry> {
        self.words.get(word).or_else(|| self.stems.get(&*stem(word))).copied()
    }

    /// What is known of a word that has no capital: "go" is a verb, "Go" a language.
    pub(super) fn plain_word(&self, word: &str) -> Option<Entry> {
        if AMBIGUOUS.contains(&word) { self.stems.get(&*stem(word)).copied() } else { self.word(word) }
    }

    /// Call `see` with every known word of a run of CJK characters, and with what lies between them.
    pub(super) fn for_each_cjk<'t>(&self, run: &'t str, mut see: impl FnMut(&'t str, Option<Entry>)) {
        let mut at = 0;
        for found in self.cjk.find_iter(run) {
            if at < found.start() {
                see(&run[at..found.start()], None);
            }
            see(&run[found.range()], Some(self.cjk_entries[found.pattern().as_usize()]));
            at = found.end();
        }
        if at < run.len() {
            see(&run[at..], None);
        }
    }

    fn new() -> Self {
        let mut words: FxHashMap<&'static str, Entry> = FxHashMap::default();
        let mut stems: FxHashMap<String, Entry> = FxHashMap::default();
        for (flags, list) in VERBS {
            for word in list.split_whitespace() {
                let key = Term::new(&stem(word));
                let entry = stems.entry(stem(word).into_owned()).or_insert(Entry { key, flags: 0, class: 0 });
                entry.flags |= flags;
            }
        }
        for (word, other) in OPPOSITES {
            let (other, flags) = other.strip_prefix('=').map_or((other, NEGATES), |other| (other, 0));
            let base = stems.get(&*stem(other)).map_or(0, |entry| entry.flags);
            let entry = Entry { key: Term::new(&stem(other)), flags: base | flags, class: 0 };
            stems.insert(stem(word).into_owned(), entry);
        }
        for (word, base) in IRREGULAR {
            let base = stem(base);
            let plain = Entry { key: Term::new(&base), flags: 0, class: 0 };
            words.insert(word, stems.get(&*base).copied().unwrap_or(plain));
        }
        for (flags, list) in WORDS {
            for word in list.split_whitespace() {
                words.insert(word, Entry { key: Term::new(word), flags, class: 0 });
            }
        }
        for (row, values) in VALUES.into_iter().enumerate() {
            for_each_value(row, values, |word, key, class| {
                let entry = words.entry(word).or_insert(Entry { key, flags: 0, class: 0 });
                entry.class |= class;
                entry.key = if entry.class == class { key } else { entry.key };
            });
        }
        let (cjk, cjk_entries) = cjk_tables(&words, &stems);
        Self { words, stems, cjk, cjk_entries }
    }
}

fn for_each_value<'t>(row: usize, values: &'t str, mut see: impl FnMut(&'t str, Term, u64)) {
    for spellings in values.split_whitespace() {
        let is_sign = spellings.bytes().all(|byte| matches!(byte, b'<' | b'>' | b'='));
        let first = if is_sign { spellings } else { spellings.split('=').next().unwrap_or(spellings) };
        let class = 1 << (class::FIRST_TABLE as usize + row);
        if is_sign {
            see(spellings, Term::new(first), class);
        } else {
            spellings.split('=').for_each(|word| see(word, Term::new(first), class));
        }
    }
}

fn cjk_tables(
    words: &FxHashMap<&'static str, Entry>,
    stems: &FxHashMap<String, Entry>,
) -> (AhoCorasick, Vec<Entry>) {
    let mut known: FxHashMap<&'static str, Entry> = FxHashMap::default();
    for word in CJK_WHOLE.split_whitespace() {
        known.insert(word, Entry { key: Term::new(word), flags: 0, class: 0 });
    }
    for (flags, list) in CJK {
        for word in list.split_whitespace().filter(|word| word.chars().all(is_cjk)) {
            known.entry(word).or_insert(Entry { key: Term::new(word), flags: 0, class: 0 }).flags |= flags;
        }
    }
    for (row, values) in CJK_VALUES.into_iter().enumerate() {
        for_each_value(row, values, |word, key, class| {
            let entry = known.entry(word).or_insert(Entry { key, flags: 0, class: 0 });
            (entry.key, entry.class) = (key, class);
        });
    }
    for (word, meaning) in CJK_MEANINGS {
        let (meaning, flags) = meaning.strip_prefix('!').map_or((meaning, 0), |meaning| (meaning, NEGATES));
        if let Some(&value) = words.get(meaning).filter(|entry| entry.class != 0) {
            known.insert(word, value);
            continue;
        }
        let english = stems.get(&*stem(meaning)).map_or(0, |entry| entry.flags);
        let class = if super::value::unit_of(meaning).is_some() { class::UNIT } else { 0 };
        let key = super::value::unit_of(meaning).map_or_else(|| Term::new(&stem(meaning)), Term::new);
        // "Light" would hide it, and it is what the statement is about.
        known.insert(word, Entry { key, flags: english & !LIGHT | flags, class });
    }
    let mut list: Vec<(&str, Entry)> = known.into_iter().collect();
    list.sort_unstable_by_key(|&(word, _)| word);
    let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(list.iter().map(|&(word, _)| word));
    // The words are constants: the tests would not pass if they made no automaton.
    let automaton = automaton.unwrap_or_else(|fault| unreachable!("{fault}"));
    (automaton, list.into_iter().map(|(_, entry)| entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_spellings_are_one_word() {
        let lexicon = Lexicon::get();
        let key = |word| lexicon.word(word).map(|entry| entry.key);
        for (a, b) in [("postgresql", "postgres"), ("uses", "using"), ("written", "writes"), ("disabled", "off")] {
            assert!(key(a).is_some() && key(a) == key(b), "{a} {b}");
        }
        assert!(lexicon.word("disabled").is_some_and(|entry| entry.flags & NEGATES != 0));
        assert!(lexicon.word("tokenizer").is_none());
    }

    #[test]
    fn longest_words_come_first() {
        let mut seen = Vec::new();
        Lexicon::get().for_each_cjk("用户不再使用缓存吗", |word, entry| seen.push((word, entry.is_some())));
        assert_eq!(seen, [("用户", true), ("不再", true), ("使用", true), ("缓存", true), ("吗", false)]);
    }
}
