"""Kinds of secrets: each generates a text and the random part of it that must be masked."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from .corpus import Corpus, Kind, Secret
from .draw import BASE32, BASE64, LOWER, UPPER, Draw
from .surroundings import HELD_OUT, PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable

TUNED = Corpus("tuned", PLAIN, HELD_OUT)
KINDS = TUNED.secrets
prefix, placed = TUNED.prefix, TUNED.placed

prefix("openai", lambda d: ("sk-proj-", d.url64(60, 120)))
prefix("openai_old", lambda d: ("sk-", d.alnum(20) + "T3BlbkFJ" + d.alnum(20)))
prefix("anthropic", lambda d: ("sk-ant-api03-", d.url64(93) + "AA"))
prefix("openrouter", lambda d: ("sk-or-v1-", d.hex(64)))
prefix("deepseek", lambda d: ("sk-", d.hex(32)))
prefix("google_api", lambda d: ("AIza", d.url64(35)))
prefix("google_oauth", lambda d: ("ya29.", d.url64(80)))
prefix("google_client", lambda d: ("GOCSPX-", d.url64(28)))
prefix("aws_access", lambda d: (d.rng.choice(["AKIA", "ASIA"]), d.text(BASE32, 16)))
prefix("github_pat", lambda d: ("ghp_", d.alnum(36)))
prefix("github_app", lambda d: (d.rng.choice(["gho_", "ghu_", "ghs_", "ghr_"]), d.alnum(36)))
prefix("github_fine", lambda d: ("github_pat_", d.alnum(22) + "_" + d.alnum(59)))
prefix("gitlab_pat", lambda d: ("glpat-", d.url64(20)))
prefix("gitlab_runner", lambda d: ("glrt-", d.url64(20)))
prefix("slack_bot", lambda d: ("xoxb-", f"{d.digits(12)}-{d.digits(12)}-{d.alnum(24)}"))
prefix("slack_app", lambda d: ("xapp-1-", f"A{d.text(UPPER, 10)}-{d.digits(13)}-{d.hex(64)}"))
prefix(
    "slack_webhook",
    lambda d: (
        "https://hooks.slack.com/services/",
        f"T{d.text(UPPER, 8)}/B{d.text(UPPER, 8)}/{d.alnum(24)}",
    ),
)
prefix("stripe", lambda d: (d.rng.choice(["sk_live_", "sk_test_", "rk_live_"]), d.alnum(24, 99)))
prefix("stripe_webhook", lambda d: ("whsec_", d.alnum(32)))
prefix("npm", lambda d: ("npm_", d.alnum(36)))
prefix("pypi", lambda d: ("pypi-AgEIcHlwaS5vcmc", d.url64(80)))
prefix("huggingface", lambda d: ("hf_", d.alnum(34)))
prefix("twilio", lambda d: ("SK", d.hex(32)))
prefix("sendgrid", lambda d: ("SG.", f"{d.url64(22)}.{d.url64(43)}"))
prefix("mailgun", lambda d: ("key-", d.hex(32)))
prefix("mailchimp", lambda d: ("", d.hex(32) + "-us12"))
prefix("digitalocean", lambda d: ("dop_v1_", d.hex(64)))
prefix("shopify", lambda d: ("shpat_", d.hex(32)))
prefix("square", lambda d: ("sq0atp-", d.url64(22)))
prefix("telegram", lambda d: ("", f"{d.digits(10)}:AA{d.url64(33)}"))
prefix("discord", lambda d: ("M", f"{d.alnum(23)}.{d.url64(6)}.{d.url64(27)}"))
prefix("azure_client", lambda d: ("", f"{d.alnum(3)}8Q~{d.alnum(34)}"))
prefix("databricks", lambda d: ("dapi", d.hex(32)))
prefix("linear", lambda d: ("lin_api_", d.alnum(40)))
prefix("notion", lambda d: ("secret_", d.alnum(43)))
prefix("notion_new", lambda d: ("ntn_", d.alnum(46)))
prefix("figma", lambda d: ("figd_", d.url64(40)))
prefix("postman", lambda d: ("PMAK-", f"{d.hex(24)}-{d.hex(34)}"))
prefix("grafana", lambda d: ("glsa_", f"{d.alnum(32)}_{d.hex(8)}"))
prefix("grafana_cloud", lambda d: ("glc_", d.base64(60)))
prefix("vault", lambda d: ("hvs.", d.url64(90)))
prefix("terraform", lambda d: ("", f"{d.alnum(14)}.atlasv1.{d.url64(67)}"))
prefix("doppler", lambda d: ("dp.pt.", d.alnum(43)))
prefix("fly", lambda d: ("fo1_", d.url64(43)))
prefix("netlify", lambda d: ("nfp_", d.alnum(36)))
prefix("heroku", lambda d: ("HRKU-", d.url64(60)))
prefix("replicate", lambda d: ("r8_", d.alnum(37)))
prefix("groq", lambda d: ("gsk_", d.alnum(52)))
prefix("perplexity", lambda d: ("pplx-", d.alnum(48)))
prefix("xai", lambda d: ("xai-", d.alnum(80)))
prefix("pinecone", lambda d: ("pcsk_", f"{d.alnum(6)}_{d.alnum(56)}"))
prefix("langsmith", lambda d: ("lsv2_pt_", f"{d.hex(32)}_{d.hex(10)}"))
prefix("airtable", lambda d: ("pat", f"{d.alnum(14)}.{d.hex(64)}"))
prefix("atlassian", lambda d: ("ATATT3xFfGF0", d.url64(180)))
prefix("dropbox", lambda d: ("sl.", d.url64(130)))
prefix("newrelic", lambda d: ("NRAK-", d.text(UPPER, 27)))
prefix("sentry", lambda d: ("sntrys_", d.base64(80)))
prefix("planetscale", lambda d: ("pscale_tkn_", d.url64(43)))
prefix("supabase", lambda d: ("sbp_", d.hex(40)))
prefix("dynatrace", lambda d: ("dt0c01.", f"{d.text(UPPER, 24)}.{d.text(UPPER, 64)}"))
prefix("age", lambda d: ("AGE-SECRET-KEY-1", d.text(UPPER, 58)))
prefix("docker", lambda d: ("dckr_pat_", d.url64(27)))
prefix("hubspot", lambda d: ("pat-na1-", d.uuid()))
prefix("tailscale", lambda d: ("tskey-auth-", f"{d.alnum(12)}CNTRL-{d.alnum(32)}"))
prefix("rubygems", lambda d: ("rubygems_", d.hex(48)))
prefix("brevo", lambda d: ("xkeysib-", f"{d.hex(64)}-{d.alnum(16)}"))
prefix("resend", lambda d: ("re_", f"{d.alnum(8)}_{d.alnum(24)}"))
prefix("alibaba", lambda d: ("LTAI", d.alnum(20)))
prefix("tavily", lambda d: ("tvly-dev-", d.alnum(32)))
prefix("nvidia", lambda d: ("nvapi-", d.url64(64)))
prefix("circleci", lambda d: ("CCIPAT_", f"{d.alnum(22)}_{d.hex(40)}"))
prefix("sonar", lambda d: ("sqp_", d.hex(40)))
prefix("buildkite", lambda d: ("bkua_", d.hex(40)))
prefix(
    "jwt", lambda d: ("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.", f"eyJ{d.url64(60)}.{d.url64(43)}")
)
prefix("unknown_live", lambda d: ("acme_live_", d.alnum(32)))
prefix("facebook", lambda d: ("EAA", d.alnum(120)))


def _pem(d: Draw) -> str:
    body = d.base64(600)
    return "\n".join(body[at : at + 64] for at in range(0, len(body), 64))


def _armor(
    name: str, label: str, wrap: Callable[[str], str], held_out_wrap: Callable[[str], str]
) -> None:
    def draw(d: Draw, held_out: bool) -> Secret:
        body = _pem(d)
        block = f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"
        text = (held_out_wrap if held_out else wrap)(block)
        inner = text.partition("KEY-----")[2] or text.partition("BLOCK-----")[2]
        return Secret(text, tuple(body.splitlines()), (inner.partition("-----END")[0],))

    KINDS.append(Kind("structural", name, draw))


_armor(
    "pem_rsa",
    "RSA PRIVATE KEY",
    lambda b: f"here you go:\n{b}\nthanks",
    lambda b: "> " + b.replace("\n", "\n> "),
)
_armor(
    "pem_pkcs8",
    "PRIVATE KEY",
    lambda b: b + "\n",
    lambda b: "  key: |\n    " + b.replace("\n", "\n    ") + "\n",
)
_armor(
    "pem_openssh",
    "OPENSSH PRIVATE KEY",
    lambda b: f"$ cat id\n{b}\n$ ls\n",
    lambda b: f"```\n{b}\n```",
)
_armor(
    "pem_pgp",
    "PGP PRIVATE KEY BLOCK",
    lambda b: b.replace("BLOCK-----\n", "BLOCK-----\nVersion: GnuPG v2\n\n", 1),
    lambda b: f"<pre>{b}</pre>",
)
_armor(
    "pem_json",
    "PRIVATE KEY",
    lambda b: '{"private_key": "' + b.replace("\n", "\\n") + '\\n", "id": 7}',
    lambda b: '"{\\"pk\\": \\"' + b.replace("\n", "\\\\n") + '\\"}"',
)
_armor(
    "pem_cut",
    "EC PRIVATE KEY",
    lambda b: b[: len(b) - 60] + "\n[output truncated]",
    lambda b: b[:400],
)
_armor(
    "pem_numbered",
    "RSA PRIVATE KEY",
    lambda b: "\n".join(f"{n:6}\t{line}" for n, line in enumerate(b.split("\n"), 1)),
    lambda b: "\n".join(f"{n}: {line}" for n, line in enumerate(b.split("\n"), 1)),
)


def _putty(d: Draw, held_out: bool) -> Secret:
    body = _pem(d)
    lines = body.splitlines()
    text = (
        f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: {len(lines)}\n{body}\nPrivate-MAC: none\n"
    )
    ends = "\r\n" if held_out else "\n"
    return Secret(text.replace("\n", ends), tuple(lines), (body.replace("\n", ends),))


KINDS.append(Kind("structural", "putty", _putty))


def _encoded(d: Draw, held_out: bool) -> Secret:
    value = base64.b64encode(f"-----BEGIN RSA PRIVATE KEY-----\n{_pem(d)}".encode()).decode()
    text = f"users:\n- name: admin\n  user:\n    client-key-data: {value}\n"
    return Secret(text if not held_out else f"TLS={value}", (value[40:],), (value,))


KINDS.append(Kind("structural", "kubeconfig", _encoded))


def _basic(d: Draw) -> str:
    return base64.b64encode(f"admin:{d.alnum(14)}".encode()).decode()


def structural(name: str, make: Callable[[Draw], str], *places: str, other: str) -> None:
    placed("structural", name, make, *places, other=other)


def context(name: str, make: Callable[[Draw], str], *places: str, other: str) -> None:
    placed("context", name, make, *places, other=other)


def prose(name: str, make: Callable[[Draw], str], *places: str, other: str) -> None:
    placed("prose", name, make, *places, other=other)


structural(
    "url_postgres",
    lambda d: d.alnum(16),
    "DATABASE_URL=postgres://app:{}@db.internal:5432/{word}",
    "connect to postgresql://svc_{word}:{}@10.0.0.8/main please",
    other='engine = create_engine("postgresql+psycopg2://app:{}@db/app?sslmode=require")',
)
structural(
    "url_redis",
    lambda d: d.alnum(20),
    "redis://:{}@cache.internal:6379/0",
    other="REDIS_URL='rediss://default:{}@eu1.cache.io:6380'",
)
structural(
    "url_mongo",
    lambda d: d.alnum(14),
    "mongodb+srv://{word}:{}@cluster0.ab1cd.mongodb.net/test",
    other='mongoose.connect("mongodb://root:{}@localhost:27017")',
)
structural(
    "url_amqp",
    lambda d: d.alnum(18),
    "broker: amqp://worker:{}@mq:5672/vhost",
    other="CELERY_BROKER_URL=amqps://u:{}@mq.acme.dev",
)
structural(
    "url_git",
    lambda d: d.alnum(30),
    "git clone https://oauth2:{}@git.acme.dev/team/{word}.git",
    other="remote: https://{}@git.acme.dev/x.git",
)
structural(
    "url_odd_password",
    lambda d: d.alnum(6) + "/" + d.alnum(4) + "#" + d.alnum(6),
    "mysql://root:{}@db/app",
    other="ftp://{word}:{}@files.acme.dev/in",
)
structural(
    "url_proxy",
    lambda d: d.alnum(12),
    "https_proxy=http://corp:{}@proxy.corp:3128",
    other="npm config set proxy http://u:{}@10.1.1.1:8080",
)
structural(
    "go_dsn",
    lambda d: d.alnum(14),
    'sql.Open("mysql", "root:{}@tcp(127.0.0.1:3306)/{word}")',
    other="DSN=app:{}@tcp(db:3306)/app?parseTime=true",
)
structural(
    "bearer",
    lambda d: d.url64(40),
    "Authorization: Bearer {}",
    '-H "Authorization: Bearer {}" https://api.acme.dev',
    "authorization=bearer {}",
    other='"headers": {"authorization": "BEARER {}"}',
)
structural(
    "bearer_bare",
    lambda d: d.url64(32),
    "sent with bearer {} and it worked",
    other="auth header value is 'Bearer {}'",
)
structural(
    "basic_header",
    _basic,
    "Authorization: Basic {}",
    "Proxy-Authorization: Basic {}",
    other="headers: { 'Authorization': 'Basic {}' }",
)
structural(
    "token_header",
    lambda d: d.hex(40),
    "Authorization: Token {}",
    "Authorization: token {}",
    other='{"Authorization": "ApiKey {}"}',
)
structural("raw_header", lambda d: d.alnum(40), "Authorization: {}", other="'authorization': '{}',")
structural(
    "aws_sig",
    lambda d: d.hex(64),
    "Authorization: AWS4-HMAC-SHA256 Credential=x/20260302/eu/s3/aws4_request, SignedHeaders=host, Signature={}",
    other="https://b.s3.amazonaws.com/k?X-Amz-Date=20260302T000000Z&X-Amz-Signature={}",
)
structural(
    "api_key_header",
    lambda d: d.alnum(32),
    "X-Api-Key: {}",
    "-H 'X-API-KEY: {}'",
    other='headers={"x-api-key": "{}"}',
)
structural(
    "vendor_header",
    lambda d: d.alnum(26),
    "X-Vault-Token: {}",
    "PRIVATE-TOKEN: {}",
    "X-Auth-Token: {}",
    "DD-API-KEY: {}",
    other="--header 'Ocp-Apim-Subscription-Key: {}'",
)
structural(
    "cookie",
    lambda d: d.alnum(32),
    "Cookie: theme=dark; sessionid={}; lang=de",
    "cookie: connect.sid=s%3A{}",
    other="curl -H 'Cookie: JSESSIONID={}' https://acme.dev",
)
structural(
    "set_cookie",
    lambda d: d.url64(40),
    "Set-Cookie: session={}; Path=/; HttpOnly; SameSite=Lax",
    other='"set-cookie": ["auth_token={}; Secure; Max-Age=3600"]',
)
structural(
    "ado",
    lambda d: d.password(),
    "Server=db;Database=app;User Id=sa;Password={};Encrypt=true",
    other='connectionString="Data Source=.;Uid=sa;Pwd={};"',
)
structural(
    "jdbc",
    lambda d: d.alnum(15),
    "jdbc:mysql://db:3306/app?user=root&password={}&useSSL=true",
    other="jdbc:sqlserver://db:1433;user=sa;password={};",
)
structural(
    "odbc",
    lambda d: d.alnum(12),
    "DRIVER={ODBC};SERVER=db;UID=app;PWD={}",
    other="pyodbc.connect('DSN=x;UID=app;PWD={}')",
)
structural(
    "libpq",
    lambda d: d.alnum(14),
    "host=db port=5432 user=app password={} dbname=app",
    other="psql \"host=db user=u password='{}'\"",
)
structural(
    "azure_storage",
    lambda d: d.base64(64),
    "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core.windows.net",
    other="Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",
)
structural(
    "azure_sas",
    lambda d: d.alnum(40) + "%3D",
    "https://acme.blob.core.windows.net/c?sv=2024-01-01&se=2026-01-01&sr=c&sp=rl&sig={}",
    other="?sig={}&sv=2022-11-02",
)
structural(
    "netrc",
    lambda d: d.alnum(16),
    "machine api.acme.dev login bot password {}",
    other="machine git.acme.dev\n  login ci\n  password {}\n",
)
structural(
    "pgpass", lambda d: d.alnum(16), "db.internal:5432:app:app_user:{}", other="*:*:*:postgres:{}"
)
structural(
    "docker_env",
    lambda d: d.alnum(20),
    "docker run -d -e POSTGRES_PASSWORD={} postgres:16",
    "docker run -e API_TOKEN={} -p 80:80 acme/{word}",
    other="podman run --env MYSQL_ROOT_PASSWORD='{}' mysql",
)
structural(
    "sshpass",
    lambda d: d.alnum(12),
    "sshpass -p '{}' ssh root@10.0.0.4",
    "sshpass -p {} scp a b:",
    other='sshpass -p"{}" ssh h',
)
structural(
    "curl_user",
    lambda d: d.alnum(14),
    "curl -u admin:{} https://acme.dev/api",
    "curl -s --user deploy:{} https://acme.dev",
    other="curl -sSL -X POST -u 'svc:{}' https://x",
)
structural(
    "mysql_cli",
    lambda d: d.alnum(12),
    "mysql -h db -u root -p{} app",
    "mysqldump -uroot -p{} app > a.sql",
    other="mysql -u{word} -p'{}' -e 'select 1'",
)
structural(
    "flag",
    lambda d: d.alnum(18),
    "./cli login --username bot --password {}",
    "acme --api-key {} list",
    "deploy --token={} --yes",
    other='subprocess.run(["acme", "--password", "{}"])',
)
structural(
    "redis_cli",
    lambda d: d.alnum(16),
    "redis-cli -h cache -a {} ping",
    other="redis-cli -a '{}' info",
)
structural(
    "npmrc",
    lambda d: d.uuid(),
    "//npm.acme.dev/:_authToken={}",
    other="npm config set //npm.acme.dev/:_authToken {}",
)
structural(
    "docker_config",
    _basic,
    '{"auths": {"registry.acme.dev": {"auth": "{}"}}}',
    other='{\n  "auths": {\n    "r.io": {\n      "auth": "{}"\n    }\n  }\n}',
)
structural(
    "openssl",
    lambda d: d.alnum(12),
    "openssl rsa -in a.key -passin pass:{} -out b.key",
    other="openssl pkcs12 -export -passout pass:'{}'",
)
structural(
    "sql_identified",
    lambda d: d.alnum(14),
    "CREATE USER 'app'@'%' IDENTIFIED BY '{}';",
    "ALTER ROLE app WITH PASSWORD '{}';",
    other="create user app with encrypted password '{}';",
)
structural(
    "echo_pipe",
    lambda d: d.alnum(14),
    "echo '{}' | docker login -u ci --password-stdin",
    "echo {} | sudo -S apt update",
    other='printf "root:{}" | chpasswd',
)
structural(
    "from_literal",
    lambda d: d.alnum(20),
    "kubectl create secret generic db --from-literal=password={}",
    other="kubectl create secret generic x --from-literal=value='{}'",
)
structural(
    "requests_auth",
    lambda d: d.alnum(14),
    "requests.get(url, auth=('admin', '{}'))",
    other='HTTPBasicAuth("svc", "{}")',
)
structural(
    "jwk",
    lambda d: d.url64(43),
    '{"kty":"EC","crv":"P-256","x":"abc","d":"{}"}',
    other='{\n "d": "{}",\n "kty": "OKP"\n}',
)
structural(
    "wifi", lambda d: d.alnum(12), "WIFI:S:office;T:WPA;P:{};;", other='network={ssid="x" psk="{}"}'
)
structural(
    "otpauth",
    lambda d: d.text(BASE32, 32),
    "otpauth://totp/acme:bob?secret={}&issuer=acme",
    other="2FA uri: otpauth://totp/x?issuer=y&secret={}",
)
structural(
    "wireguard",
    lambda d: d.base64(32),
    "[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/32",
    other="PresharedKey={}\n",
)

context(
    "env_password",
    lambda d: d.password(),
    "DB_PASSWORD={}\nDB_HOST=db\n",
    "export PGPASSWORD='{}'",
    "REDIS_PASS={}\n",
    other="set ADMIN_PASSWORD={}\r\n",
)
context(
    "env_key",
    lambda d: d.alnum(40),
    "DATADOG_API_KEY={}\n",
    "MISTRAL_API_KEY={}\nPORT=80\n",
    'COHERE_API_KEY="{}"',
    other='$env:VERCEL_TOKEN = "{}"',
)
context(
    "env_hex",
    lambda d: d.hex(32),
    "DD_API_KEY={}\n",
    "ALGOLIA_ADMIN_KEY={}\n",
    other="WANDB_API_KEY: {}\n",
)
context(
    "env_uuid",
    lambda d: d.uuid(),
    "HEROKU_API_KEY={}\n",
    "POSTMARK_SERVER_TOKEN={}",
    other="SNYK_TOKEN='{}'",
)
context(
    "aws_secret",
    lambda d: d.text(BASE64, 40),
    "aws_secret_access_key = {}\n",
    '"SecretAccessKey": "{}"',
    "AWS_SECRET_ACCESS_KEY={}\n",
    other="aws configure set aws_secret_access_key {}",
)
context(
    "json_password",
    lambda d: d.password(),
    '{"user": "bob", "password": "{}"}',
    '{\n  "dbPassword": "{}",\n  "port": 1\n}',
    other='"{\\"password\\": \\"{}\\"}"',
)
context(
    "json_token",
    lambda d: d.url64(36),
    '{"access_token": "{}", "expires_in": 3600}',
    '{"refreshToken":"{}"}',
    other="{'apiToken': '{}'}",
)
context(
    "yaml_password",
    lambda d: d.password(),
    "db:\n  user: app\n  password: {}\n",
    'smtp_password: "{}"\n',
    other="- password: '{}'\n  port: 1\n",
)
context(
    "yaml_secret",
    lambda d: d.alnum(32),
    "client_secret: {}\n",
    "jwtSecret: {}\n",
    other="secret: >-\n  {}\nname: x\n",
)
context(
    "toml",
    lambda d: d.alnum(32),
    'secret_key = "{}"\n',
    '[auth]\ntoken = "{}"\n',
    other="api_key = '{}'\n",
)
context(
    "python",
    lambda d: d.alnum(24),
    'API_KEY = "{}"\n',
    "client = Client(api_key='{}')",
    'os.environ["OPENAI_API_KEY"] = "{}"',
    other="app.config['SECRET_KEY'] = b'{}'",
)
context(
    "python_default",
    lambda d: d.alnum(24),
    'os.getenv("SERVICE_TOKEN", "{}")',
    other="settings.get('api_key', '{}')",
)
context(
    "javascript",
    lambda d: d.alnum(24),
    "const apiKey = '{}';",
    "new Client({ clientSecret: `{}` })",
    'process.env.AUTH_TOKEN = "{}"',
    other="const token: string = '{}'",
)
context(
    "typed_languages",
    lambda d: d.alnum(24),
    'String password = "{}";',
    'let token: &str = "{}";',
    'apiKey := "{}"',
    'const secret string = "{}"',
    other='static const char *api_key = "{}";',
)
context(
    "ruby_php",
    lambda d: d.alnum(20),
    "'password' => '{}',",
    ":secret => '{}'",
    "$db_password = '{}';",
    other="define('DB_PASSWORD', '{}');",
)
context(
    "c_define", lambda d: d.alnum(24), '#define API_KEY "{}"', other='#define WIFI_PASSWORD "{}"'
)
context(
    "xml",
    lambda d: d.password(),
    "<password>{}</password>",
    '<add key="ApiSecret" value="{}" />',
    other='<property name="password" value="{}"/>',
)
context(
    "properties",
    lambda d: d.alnum(16),
    "spring.datasource.password={}\n",
    "smtp.auth.token={}\n",
    other="hibernate.connection.password: {}\n",
)
context(
    "hcl",
    lambda d: d.alnum(24),
    'password = "{}"\n',
    'variable "db_password" {\n  default = "{}"\n}',
    other='client_secret = "{}" # rotate\n',
)
context(
    "k8s_env",
    lambda d: d.alnum(20),
    "- name: DB_PASSWORD\n  value: {}\n",
    '{"name": "API_TOKEN", "value": "{}"}',
    other='- name: AUTH_SECRET\n  value: "{}"\n',
)
context(
    "query",
    lambda d: d.alnum(32),
    "GET /v1/items?api_key={}&page=2 HTTP/1.1",
    "https://x.dev/cb?access_token={}",
    other="POST /login body: user=bob&password={}&x=1",
)
context(
    "log",
    lambda d: d.password(),
    "DEBUG login user=bob password={} ip=10.0.0.1",
    "INFO config loaded token: {}",
    other="[warn] retrying with secret={} (attempt 2)",
)
context(
    "shell",
    lambda d: d.alnum(20),
    "export GH_TOKEN={}",
    "PGPASSWORD={} psql -h db",
    "ENV SECRET_KEY {}",
    other="set -x SLACK_SIGNING_SECRET {}",
)
context(
    "redis_conf",
    lambda d: d.alnum(20),
    "requirepass {}\n",
    "masterauth {}",
    other='requirepass "{}"',
)
context(
    "django",
    lambda d: "django-insecure-" + d.text(LOWER + "!@#$%^&*(-_=+)", 50),
    "SECRET_KEY = '{}'",
    other='SECRET_KEY="{}"',
)
context("rails", lambda d: d.hex(128), "secret_key_base: {}\n", other="SECRET_KEY_BASE={}")
context(
    "laravel",
    lambda d: d.base64(32),
    "APP_KEY=base64:{}\n",
    other="'key' => env('APP_KEY', 'base64:{}')",
)
context(
    "default_expansion",
    lambda d: d.alnum(18),
    "password: ${DB_PASSWORD:{}}",
    other='TOKEN="${TOKEN:-{}}"',
)
context(
    "ansible",
    lambda d: d.alnum(16),
    "ansible_become_password={}",
    "ansible_ssh_pass={}",
    other="ansible_password: '{}'",
)
context(
    "markdown",
    lambda d: d.alnum(18),
    "**Password:** {}",
    "- API key: `{}`",
    other="| Password | {} |",
)
context(
    "webhook_secret",
    lambda d: d.alnum(40),
    "webhookSecret: '{}'",
    "SIGNING_SECRET={}",
    other="github_webhook_secret = {}\n",
)
context(
    "encryption_key",
    lambda d: d.base64(32),
    "ENCRYPTION_KEY={}\n",
    "encryptionKey: '{}'",
    other="master_key: {}\n",
)
context(
    "letters_only",
    lambda d: d.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 16),
    "DB_PASSWORD={}\n",
    "password: '{}'",
    other='"secret": "{}"',
)

prose(
    "en_password",
    lambda d: d.password(8, 14),
    "The password is {} for now.",
    "ok, my password: {}",
    "password for the staging db is {}",
    other="you can log in with password {} until Friday",
)
prose(
    "en_key",
    lambda d: d.alnum(32),
    "use this API key: {}",
    "here is the api key for {word}: {}",
    "The token is `{}`.",
    other="my access token for the bot is {}, keep it safe",
)
prose(
    "en_creds",
    lambda d: d.password(9, 14),
    "credentials are admin:{}",
    "creds: deploy / {}",
    other="login credentials: root/{}",
)
prose(
    "zh",
    lambda d: d.password(8, 14),
    "数据库密码是 {} 别外传",
    "密码：{}",
    "新的密钥为{}，请保存",
    other="登录口令已改成{}",
)
prose("zh_token", lambda d: d.alnum(32), "令牌是{}", "密钥：{}", other="这个 API 密钥是 {}")
prose(
    "ja",
    lambda d: d.password(8, 14),
    "パスワードは{}です",
    "パスワード：{}",
    other="新しいパスワードは「{}」に変更しました",
)
prose(
    "ko",
    lambda d: d.password(8, 14),
    "비밀번호는 {} 입니다",
    "비밀번호: {}",
    other="새 비밀번호는 {}로 바꿨어요",
)
