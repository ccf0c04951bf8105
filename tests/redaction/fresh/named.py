"""Secrets that a name or a sentence identifies."""

from __future__ import annotations

from redaction.draw import BASE64

from .kinds import context, prose

context(
    "env_vendor_secret",
    lambda d: d.alnum(32),
    "TENCENTCLOUD_SECRET_KEY={}\n",
    "ALIBABA_CLOUD_ACCESS_KEY_SECRET={}\n",
    "ALIYUN_ACCESS_KEY_SECRET='{}'",
)
context(
    "env_vendor_token",
    lambda d: d.alnum(36),
    "TRAVIS_TOKEN={}\n",
    "CODECOV_TOKEN={}",
    "HCLOUD_TOKEN={}\n",
    "LINODE_TOKEN={}\n",
)
context(
    "env_vendor_hex",
    lambda d: d.hex(40),
    "MERAKI_DASHBOARD_API_KEY={}\n",
    "CF_GLOBAL_API_KEY={}\n",
    "SENDBIRD_API_TOKEN={}",
)
context(
    "env_vendor_uuid",
    lambda d: d.uuid(),
    "OPSGENIE_API_KEY={}\n",
    "SPLUNK_HEC_TOKEN={}",
    "SCW_SECRET_KEY={}\n",
)
context(
    "azure_client_plain",
    lambda d: d.url64(40),
    "AZURE_CLIENT_SECRET={}\n",
    "ARM_CLIENT_SECRET={}\n",
    '"clientSecret": "{}"',
)
context(
    "oauth_json",
    lambda d: d.alnum(24),
    '{"client_id": "acme-web", "client_secret": "{}"}',
    '"consumerSecret": "{}"',
)
context(
    "twitter_keys",
    lambda d: d.alnum(50),
    "twitter_api_secret = '{}'",
    "TWITTER_ACCESS_TOKEN_SECRET={}\n",
)
context("facebook_app", lambda d: d.hex(32), "FACEBOOK_APP_SECRET={}\n", "fb_app_secret: {}\n")
context(
    "aws_pair",
    lambda d: d.text(BASE64, 40),
    "secret_access_key: {}\n",
    "secretAccessKey: '{}',",
    "AWS_SECRET_KEY={}\n",
)
context("session_token", lambda d: d.base64(120), "aws_session_token={}\n", '"SessionToken": "{}"')
context(
    "yaml_quoted", lambda d: d.password(), '    adminPassword: "{}"\n', "  root_password: '{}'\n"
)
context(
    "yaml_list",
    lambda d: d.alnum(24),
    "env:\n- {name: REDIS_PASSWORD, value: {}}\n",
    "- name: JWT_SECRET\n  value: '{}'\n",
)
context(
    "json_nested",
    lambda d: d.alnum(28),
    '{"auth":{"type":"token","token":"{}"}}',
    '{"db":{"host":"x","pass":"{}"}}',
)
context(
    "json_string",
    lambda d: d.alnum(28),
    '{"body":"{\\"apiKey\\":\\"{}\\"}"}',
    '"{\\"auth_token\\":\\"{}\\",\\"n\\":1}"',
)
context(
    "python_kwargs",
    lambda d: d.alnum(22),
    "connect(host='db', user='app', passwd='{}')",
    "boto3.client('s3', aws_secret_access_key='{}')",
    "Redis(host='h', password='{}')",
)
context("python_bytes", lambda d: d.alnum(32), "SIGNING_KEY = b'{}'\n", 'HMAC_KEY = b"{}"')
context(
    "go", lambda d: d.alnum(24), 'cfg.Password = "{}"', 'const apiToken = "{}"', 'Secret: "{}",'
)
context("rust", lambda d: d.alnum(24), 'const API_KEY: &str = "{}";', '.password("{}")')
context(
    "java",
    lambda d: d.alnum(24),
    'private static final String TOKEN = "{}";',
    'props.setProperty("password", "{}");',
)
context(
    "csharp",
    lambda d: d.alnum(24),
    'var clientSecret = "{}";',
    'options.ApiKey = "{}";',
    '"Jwt": { "Secret": "{}" }',
)
context(
    "ruby", lambda d: d.alnum(24), "config.api_key = '{}'", "secret_key: '{}',", 'password: "{}"'
)
context("php", lambda d: d.alnum(24), "define('AUTH_KEY', '{}');", "$config['api_secret'] = '{}';")
context(
    "swift_kotlin",
    lambda d: d.alnum(24),
    'let apiKey = "{}"',
    'val token = "{}"',
    'static let clientSecret: String = "{}"',
)
context(
    "gradle",
    lambda d: d.alnum(18),
    "storePassword '{}'",
    'keyPassword="{}"',
    "signing.password={}\n",
)
context("ini", lambda d: d.password(), "[client]\nuser = root\npassword = {}\n", "passwd={}\n")
context(
    "terraform",
    lambda d: d.alnum(24),
    'master_password = "{}"',
    'secret_string = "{}"',
    'auth_token = "{}"',
)
context("jenkins", lambda d: "11" + d.hex(32), "JENKINS_API_TOKEN={}\n", "jenkins_token: {}\n")
context("ci_yaml", lambda d: d.alnum(30), "  NPM_TOKEN: {}\n", "variables:\n  DEPLOY_TOKEN: {}\n")
context(
    "log_json",
    lambda d: d.alnum(30),
    '{"level":"debug","msg":"auth","token":"{}"}',
    "level=debug msg=auth api_key={} took=3ms",
)
context(
    "log_dict",
    lambda d: d.alnum(20),
    "DEBUG params={'user': 'bob', 'password': '{}'}",
    "args: [--db-password={}]",
)
context(
    "query_other",
    lambda d: d.alnum(32),
    "GET /maps?key={}&q=berlin",
    "/oauth/callback?code=x&client_secret={}",
    "wss://x.dev/ws?token={}",
)
context(
    "form",
    lambda d: d.password(),
    "grant_type=password&username=bob&password={}",
    "--data 'client_secret={}&grant_type=client_credentials'",
)
context("table", lambda d: d.alnum(18), "| DB_PASSWORD | {} | staging |", "API token\t{}\n")
context("markdown_bold", lambda d: d.alnum(18), "**API Key**: `{}`", "* Password: **{}**")
context(
    "chat_pairs",
    lambda d: d.password(9, 14),
    "user: bob\npass: {}\n",
    "login: admin\npassword: {}\n",
    "username: x / password: {}",
)
context(
    "infura_alchemy",
    lambda d: d.hex(32),
    "INFURA_API_KEY={}\n",
    "ALCHEMY_KEY={}\n",
    "ETHERSCAN_API_KEY={}\n",
)
context(
    "wallet",
    lambda d: d.hex(64),
    "PRIVATE_KEY=0x{}\n",
    "DEPLOYER_PRIVATE_KEY={}\n",
    "const privateKey = '0x{}'",
)
context(
    "crypto_exchange",
    lambda d: d.alnum(64),
    "BINANCE_SECRET_KEY={}\n",
    "binance_api_secret: {}\n",
    "KRAKEN_PRIVATE_KEY='{}'",
)
context(
    "salt_pepper",
    lambda d: d.alnum(32),
    "JWT_SIGNING_KEY={}\n",
    "COOKIE_SECRET={}\n",
    "NEXTAUTH_SECRET={}\n",
)

_word = lambda d: d.password(8, 14)  # noqa: E731
_key32 = lambda d: d.alnum(32)  # noqa: E731
_pin = lambda d: d.text("0123456789", 6)  # noqa: E731

prose(
    "en_told",
    _word,
    "btw the wifi password is {}, don't share it",
    "I changed my passphrase to {} yesterday",
    "Temporary password: {} (valid for 24 hours)",
    "root pw is {}",
)
prose(
    "en_key_told",
    _key32,
    "Here's my secret key: {}",
    "we use the api token {} on staging",
    "client secret = {} if you need it",
)
prose("en_pin", _pin, "my PIN is {}", "the pin code for the door is {}", "the passcode is {}")
prose(
    "de_told",
    _word,
    "Das Passwort ist {}.",
    "das Passwort für die Datenbank lautet {}",
    "Mein Kennwort: {}",
    "Passwort für {word} ist jetzt {}",
    "Zugangsdaten: admin / {}",
)
prose(
    "de_key",
    _key32,
    "Der API-Schlüssel lautet {}",
    "Hier ist der Schlüssel: {}",
    "der Token ist {}",
    "Geheimnis des Clients: {}",
)
prose("de_pin", _pin, "Meine PIN ist {}", "die PIN lautet {}")
prose(
    "fr_told",
    _word,
    "Le mot de passe est {}",
    "mot de passe : {}",
    "le mot de passe de la base est {} pour l'instant",
    "voici mon mot de passe : {}",
    "identifiants : admin / {}",
)
prose(
    "fr_key",
    _key32,
    "La clé API est {}",
    "voici la clé d'accès : {}",
    "le jeton est {}",
    "clé secrète : {}",
)
prose("fr_pin", _pin, "mon code PIN est {}", "le code secret est {}")
prose(
    "es_told",
    _word,
    "La contraseña es {}",
    "contraseña: {}",
    "mi contraseña de {word} es {}",
    "la clave es {} por ahora",
    "credenciales: admin / {}",
)
prose("es_key", _key32, "La clave de API es {}", "aquí está la clave secreta: {}", "el token es {}")
prose("es_pin", _pin, "mi PIN es {}", "el código PIN es {}")
prose(
    "ja_told",
    _word,
    "パスワードは {} です",
    "パスワードを{}に変更しました",
    "仮パスワード：{}",
    "暗証番号は{}です",
)
prose(
    "ja_key",
    _key32,
    "APIキーは{}です",
    "アクセストークン：{}",
    "シークレットキーは {} を使ってください",
    "秘密鍵: {}",
)
prose("ja_pin", _pin, "暗証番号は{}です", "PINコードは{}です")
prose(
    "ko_told",
    _word,
    "비밀번호는 {}입니다",
    "비번은 {} 이에요",
    "임시 비밀번호: {}",
    "암호를 {}로 변경했습니다",
    "패스워드는 {} 입니다",
)
prose("ko_key", _key32, "API 키는 {}입니다", "액세스 토큰: {}", "시크릿 키는 {} 입니다")
prose("ko_pin", _pin, "핀 번호는 {}입니다", "제 PIN은 {}입니다")
prose("zh_told", _word, "wifi密码是{}", "初始密码：{}，请尽快修改", "密碼為 {}")
prose("it_pt", _word, "la password è {}", "a senha é {}", "senha: {}", "parola d'ordine: {}")
