"""Secrets that a name or a sentence identifies."""

from __future__ import annotations

from redaction.draw import BASE64, LOWER

from .kinds import context, prose

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
