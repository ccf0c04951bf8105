"""Kinds of text that look like secrets and are not: each must stay unchanged."""

from __future__ import annotations

from .draw import BASE64, HEX
from .secrets import TUNED

__all__ = ["TUNED"]

plain, drawn = TUNED.plain, TUNED.drawn

drawn(
    "git_sha",
    lambda d: d.hex(40),
    "commit {}",
    "fixed in {} yesterday",
    "git checkout {}",
    "HEAD is now at {}",
)
drawn(
    "git_short",
    lambda d: d.hex(8),
    "cherry-picked {} onto main",
    "the token refactor landed in {}",
    "{} Fix the password form",
)
drawn("sha256", lambda d: d.hex(64), "sha256: {}", "sha256sum says {}", "image@sha256:{}")
drawn("md5", lambda d: d.hex(32), "md5 {}", 'ETag: "{}"', "MD5 (a.iso) = {}")
drawn(
    "uuid", lambda d: d.uuid(), "request id {}", '{"id": "{}"}', "user {} logged in", "trace_id={}"
)
drawn("integrity", lambda d: d.base64(64), '"integrity": "sha512-{}"', "integrity sha512-{}")
drawn(
    "go_sum",
    lambda d: d.base64(32),
    "github.com/acme/x v1.2.3 h1:{}",
    "golang.org/x/text v0.3.0/go.mod h1:{}",
)
drawn("cargo_lock", lambda d: d.hex(64), 'checksum = "{}"\n')
drawn("poetry_lock", lambda d: d.hex(64), '{file = "x.whl", hash = "sha256:{}"}')
drawn("requirements_hash", lambda d: d.hex(64), "numpy==2.0 --hash=sha256:{}")
drawn(
    "data_url",
    lambda d: d.base64(300),
    "data:image/png;base64,{}",
    '<img src="data:image/jpeg;base64,{}">',
)
drawn("base64_blob", lambda d: d.base64(200), "{}", "body: {}", "attachment follows {}")
drawn("hex_dump", lambda d: d.hex(32), "00000000  {}  |....|", "0x{}")
drawn("ethereum", lambda d: d.hex(40), "sent to 0x{}", "contract 0x{} verified")
drawn("tx_hash", lambda d: d.hex(64), "tx 0x{} confirmed", "block hash {}")
drawn("docker_digest", lambda d: d.hex(64), "FROM python@sha256:{}", "Digest: sha256:{}")
drawn("container_id", lambda d: d.hex(12), "docker logs {}", "{}   nginx   Up 3 hours")
drawn(
    "ssh_public",
    lambda d: d.base64(270),
    "ssh-rsa AAAAB3NzaC1yc2E{} bob@host",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} x",
)
drawn("known_hosts", lambda d: d.base64(60), "github.com ecdsa-sha2-nistp256 AAAAE2VjZHNh{}")
drawn(
    "certificate",
    lambda d: d.base64(600),
    "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----",
)
drawn(
    "public_key",
    lambda d: d.base64(300),
    "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----",
)
drawn(
    "fingerprint",
    lambda d: d.base64(32)[:43],
    "SHA256:{} bob@host (ED25519)",
    "key fingerprint is SHA256:{}.",
)
drawn("s3_etag", lambda d: d.hex(32), '"ETag": "\\"{}\\""', "etag={}")
drawn("trace", lambda d: d.hex(32), "traceparent: 00-{}-00f067aa0ba902b7-01", "trace={} span=1")
drawn(
    "page_token",
    lambda d: d.url64(40),
    '"nextPageToken": "{}"',
    "next_page_token={}",
    "continuationToken: {}",
)
drawn(
    "public_names",
    lambda d: d.alnum(32),
    '"publicKey": "{}"',
    "cache_key={}",
    'primary_key = "{}"',
    "partition_key: {}",
    '"objectKey": "{}"',
)
drawn(
    "key_id", lambda d: d.text(HEX, 16), '"private_key_id": "{}"', "kid: {}", "gpg --recv-keys {}"
)
drawn("password_hash", lambda d: d.hex(64), 'password_hash = "{}"', "passwordDigest: {}")
drawn("minified", lambda d: d.alnum(60), "!function(e,t){var {}=1;return e}", "bundle.{}.js")
drawn("asset", lambda d: d.hex(20), "/static/js/main.{}.chunk.js", "app-{}.css")
drawn(
    "url_id",
    lambda d: d.url64(44),
    "https://docs.google.com/document/d/{}/edit",
    "https://www.figma.com/file/{}/x",
)
drawn("video", lambda d: d.url64(11), "https://youtu.be/{}", "https://www.youtube.com/watch?v={}")
drawn("aws_ids", lambda d: d.hex(17), "i-{}", "vpc-{}", "ami-{}", "subnet-{}")
drawn(
    "arn",
    lambda d: d.digits(12),
    "arn:aws:iam::{}:role/deploy",
    "arn:aws:secretsmanager:eu-west-1:{}:secret:prod/db-AbCdEf",
)
drawn("tool_call", lambda d: d.alnum(24), "toolu_{}", "call_{}", "msg_{}", "chatcmpl-{}", "req_{}")
drawn("stripe_ids", lambda d: d.alnum(14), "cus_{}", "pi_{}", "sub_{}", "price_{}")
drawn(
    "long_name",
    lambda d: "_".join(d.word() for _ in range(9)),
    "def test_{}():",
    "const {} = 1",
    "{}.py",
)
drawn("long_path", lambda d: "/".join(d.word() for _ in range(9)), "/usr/lib/{}", "src/{}/mod.rs")
drawn("numbers", lambda d: d.digits(20), "offset {}", '"timestamp": {}', "order number {}")
drawn("base64_word", lambda d: d.text(BASE64, 24), "decoded {} to 18 bytes", "b64: {}")
drawn(
    "session_id", lambda d: d.uuid(), 'session_id="{}"', '"sessionId": "{}"', "session {} resumed"
)
drawn("nonce", lambda d: d.base64(16), "nonce-{}", "script-src 'nonce-{}'")

plain(
    "shell_variable",
    "password=$DB_PASSWORD",
    'curl -H "Authorization: Bearer $TOKEN" x',
    "export TOKEN=${GH_TOKEN}",
    "-p$MYSQL_PWD",
    "mysql -u root -p",
    'PASSWORD="$(pass show db)"',
)
plain(
    "actions",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: ${{ secrets.DB_PASSWORD }}",
    "key: ${{ runner.os }}-pip-${{ hashFiles('x') }}",
)
plain(
    "template",
    "password: {{ db_password }}",
    "api_key: {{ .Values.apiKey }}",
    "token: <%= ENV['TOKEN'] %>",
    "secret: #{secret}",
    'f"Bearer {token}"',
)
plain(
    "angle",
    "token=<your-token>",
    "Authorization: Bearer <token>",
    "password: <password>",
    "--api-key <API_KEY>",
    "export KEY=<paste here>",
)
plain(
    "stand_in",
    "api_key=your-api-key",
    'OPENAI_API_KEY="sk-..."',
    "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "password: changeme",
    "token: xxxxxxxxxxxx",
    "secret=********",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAIOSFODNN7EXAMPLE",
    "API_KEY=YOUR_API_KEY_HERE",
    "password: ••••••••",
    "token=REPLACE_ME",
)
plain(
    "environment",
    'password = os.environ["DB_PASSWORD"]',
    "token = process.env.GITHUB_TOKEN",
    'key = os.getenv("API_KEY")',
    "secret: ENV['SECRET']",
    'let t = env::var("TOKEN")?;',
    'apiKey: System.getenv("API_KEY")',
    'token = std::env::var("X_TOKEN").unwrap()',
)
plain(
    "config_call",
    'password = config.get("password")',
    "token = settings.AUTH_TOKEN",
    'secret = vault.read("secret/data/db")',
    "password = getpass.getpass()",
    "api_key = secrets.token_urlsafe(32)",
    "token = jwt.encode(payload, key)",
    'password = input("Password: ")',
    "self.password = password",
    "password=self.password,",
)
plain(
    "types",
    "password: str",
    "token: string",
    "api_key: Optional[str] = None",
    "secret: SecretStr",
    "def login(user: str, password: str) -> Token:",
    "password: String,",
    "token?: string;",
    "private String password;",
    "password VARCHAR(255) NOT NULL",
    "apiKey: z.string().min(1)",
    'token *string `json:"token"`',
    "pub token: Option<String>,",
)
plain(
    "labels",
    "Password:",
    "Enter your password: ",
    '"password": "Password"',
    'label="API key"',
    "password.placeholder=Enter a password",
    '"forgotPassword": "Forgot your password?"',
    '<input type="password" name="password" />',
    "Token:",
    '"token.expired": "Your token has expired"',
)
plain(
    "values",
    "password: null",
    "token: None",
    "secret: true",
    "password = ''",
    "token: 42",
    "api_key: ~",
    "auth: false",
    "password: 123",
    '"password": ""',
    "token=undefined",
)
plain(
    "model_tokens",
    "max_tokens=4096",
    '"tokens": 123',
    "total_tokens: 8192",
    "prompt_tokens=17 completion_tokens=250",
    "token_count = 12345678",
    "tokens_per_second: 42.5",
    "eos_token = '</s>'",
    "pad_token='[PAD]'",
    "bos_token_id: 128000",
)
plain(
    "design_tokens",
    "--color-token-primary: #ff00aa;",
    "design-token: spacing-xl2",
    "$token-font-size: 14px;",
    '"color.token.background": "#1f2937"',
)
plain(
    "secret_names",
    "secret_name: my-secret",
    "secretName: web-tls-2024",
    "secretKeyRef:\n  name: db-secret\n  key: password",
    "imagePullSecrets:\n- name: regcred",
    "existingSecret: postgres-auth-v2",
    "passwordSecretRef: db-creds-01",
)
plain(
    "key_paths",
    "private_key = ~/.ssh/id_ed25519",
    "ssl_key: /etc/ssl/private/server.key",
    "TOKEN_FILE=/run/secrets/api_token",
    "IdentityFile ~/.ssh/deploy_key",
    "key_file: certs/dev-key.pem",
    "ssh -i ~/.ssh/key.pem host",
    "GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/sa.json",
)
plain(
    "masked",
    "password=[REDACTED:password]",
    "Authorization: Bearer [REDACTED:bearer_token]",
    "[REDACTED:github_token] was rotated",
    "key: [REDACTED]",
)
plain(
    "words",
    "The password must have at least 8 characters.",
    "Reset your password to continue",
    "secret sauce of our tokenizer",
    "token bucket with 1000 tokens",
    "She is the key author of basic2d",
    "bearer of bad news",
    "a basic authentication scheme",
    "The auth service is in src/auth/v2",
    "the key is to cache it",
    "password is required",
    "my secret is safe with you",
    "the token expires in 3600s",
    "Use the API key from the dashboard",
    "rotate credentials every 90 days",
    "basic understanding of Kubernetes",
)
plain(
    "cjk_words",
    "密码错误，请重试",
    "请输入密码",
    "密码长度至少 8 位",
    "パスワードを入力してください",
    "トークンの有効期限が切れました",
    "비밀번호를 잊으셨나요?",
    "令牌已过期，请重新登录",
    "密钥管理服务 KMS 的文档",
    "分词器会输出 token 列表",
    "パスワードは8文字以上",
    "API キーを取得する方法",
)
plain(
    "code_keys",
    "for key, value in items:",
    "key=lambda x: x[1]",
    "Object.keys(map)",
    "<li key={item.id}>",
    "dict(key='name', value=3)",
    "onKeyDown={handleKey2}",
    "foreign_key = models.ForeignKey(User)",
    "sort_keys=True",
    "map.get(key1)",
    "KeyError: 'user_id2'",
    "cache.set(key, value, ttl=300)",
)
plain(
    "urls",
    "https://acme.dev:8443/path",
    "http://localhost:3000/login?next=/home",
    "postgres://localhost/app",
    "postgres://user:password@localhost:5432/db",
    "ssh://git@github.com/acme/x.git",
    "https://user@host/x",
    "mailto:bob@acme.dev",
    "git@github.com:acme/x.git",
    "redis://localhost:6379/0",
    "postgres://${USER}:${PASS}@db/app",
    "mysql://root:<password>@db",
    "http://user:***@proxy:80",
)
plain(
    "commands",
    "docker run -p 8080:80 nginx",
    "mkdir -p src/app2/lib",
    "cp -p a1b2c3d4 backup",
    "ssh -p 2222 host",
    "curl -u admin https://x",
    "mysql -u root -p app",
    "nmap -p 1-65535 host",
    "tar -xzf a.tgz -C dir",
    "docker login -u bob registry.io",
    "psql -p 5433 -U app",
    "wget -P downloads https://x/a1.zip",
    "unzip -p archive2.zip",
)
plain(
    "css_classes",
    "sk-folding-cube sk-cube-parent-element",
    'class="sk-fading-circle-container-big"',
    "sk-loading-spinner-wrapper",
    "pa-4 ma-2 fc-toolbar-chunk",
    "re_compile_pattern_for_names",
)
plain(
    "http",
    "HTTP/1.1 401 Unauthorized",
    'WWW-Authenticate: Basic realm="x"',
    "Authorization header is missing",
    "Authorization: required",
    "Set-Cookie: theme=dark; Path=/",
    "Content-Type: application/json",
    "Cookie: lang=en; theme=light",
    "Accept-Encoding: gzip",
    "Authorization: Bearer",
)
plain(
    "versions",
    "token-parser v2.13.4-rc.1",
    "secret-service 5.0.1",
    "passlib==1.7.4",
    "keyring>=24.3.0",
    "auth0-python==4.7.1",
    "tokenizers 0.21.0",
    "password-hash2 crate",
)
plain(
    "algorithms",
    "password_encoder: argon2id",
    "jwt algorithm RS256",
    "token_signing_alg = ES256",
    "hash the password with pbkdf2-sha256",
    "auth: oauth2",
    "the password is sha256-hashed",
    "secret is base64 encoded",
    "password is bcrypt2b",
)
plain(
    "errors",
    "invalid token at position 1234567",
    "unexpected token '}' in JSON",
    "SyntaxError: Unexpected token <",
    "KeyError: 'api_key'",
    "AuthError: token expired at 2026-03-02T10:11:12Z",
    "bad credentials for user bob2",
    "PasswordTooShort: 8 > 5",
)
plain(
    "tests",
    "assert token.kind == 'IDENT'",
    "expect(password).toBe('')",
    "test_password_reset_sends_email_v2",
    "def test_token_refresh_2fa(client):",
    "it('validates the api key')",
    "password = faker.password()",
    "token = make_token(user2)",
)
plain(
    "policies",
    "password_min_length: 12",
    "token_ttl: 3600s",
    "PASSWORD_MAX_AGE=90d",
    "auth_mode: oidc-v2",
    "secret_rotation: 30d",
    "key_size = 4096",
    "token_endpoint: https://idp.dev/oauth2/v1/token",
    "credential_source: Ec2InstanceMetadata",
)
plain(
    "json_schema",
    '"password": {"type": "string", "minLength": 8}',
    '{"required": ["token", "secret"]}',
    '"apiKey": {"$ref": "#/definitions/Key1"}',
    '"token": ["string", "null"]',
    '"secret": {"description": "Shared v2 secret"}',
)
plain(
    "imports",
    "import { TokenService2 } from './auth/token.service'",
    "from secrets import token_hex",
    "use crate::auth::Token;",
    "#include <openssl/pem.h>",
    "from app.auth.jwt2 import decode",
    "const { password } = req.body",
    "using System.Security.Credentials;",
)
plain(
    "sql",
    "SELECT password FROM users WHERE id = 1",
    "WHERE token = $1",
    "UPDATE users SET password = ?",
    "INSERT INTO keys (key, value) VALUES (:key, :value)",
    "password = crypt(:password, gen_salt('bf'))",
    "ALTER TABLE t ADD COLUMN api_key2 TEXT",
    "GRANT SELECT ON auth_tokens TO app2",
)
plain(
    "kinds_of_keys",
    "primary key: user_id2",
    "the foreign key is order_id1",
    "press any key to continue2",
    "hotkey: ctrl+shift+p",
    "keyboard layout de-latin1",
    "sort key = created_at#id1",
    "turkey: 2kg",
    "monkey2",
)
plain(
    "yaml_anchors",
    "password: *default_password",
    "auth: &auth_default",
    "token: !vault |",
    "secret: !Ref DbSecret2",
    "password: !GetAtt Secret.Value1",
)
plain(
    "comments",
    "# TODO: rotate the token",
    "// password is validated upstream in v2",
    "# api_key: see 1Password",
    "-- token column was added in 2024-01-15",
    "# secret=see vault",
)
plain(
    "pem_stub",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "paste your -----BEGIN RSA PRIVATE KEY----- here",
    'if "BEGIN PRIVATE KEY" in text:',
)
