"""The second set of look-alikes: references, checksums, identifiers and talk about secrets in seven languages."""

from __future__ import annotations

from .draw import BASE64, HEX, LOWER, UPPER
from .fresh import FRESH

__all__ = ["FRESH"]

plain, drawn = FRESH.plain, FRESH.drawn

# References: the secret is elsewhere.
plain(
    "flag_variable",
    'mysqldump --password="$DB_PASSWORD" app > dump.sql',
    "mysql --user=root --password=${MYSQL_ROOT_PASSWORD} -e 'select 1'",
    'gpg --batch --passphrase "$GPG_PASSPHRASE" -d a.gpg',
    'redis-cli -a "$REDIS_PASSWORD" ping',
    'sshpass -p "$SSH_PASS" ssh host',
    'curl -u "$USER:$PASS" https://acme.dev',
    'docker login -u "$CI_USER" -p "$CI_PASSWORD" $CI_REGISTRY',
    'PGPASSWORD="$PGPASS" psql -h db',
    "mongosh -u admin -p $MONGO_PASSWORD",
    'mysql -uroot -p"$MYSQL_PWD2" app',
    'ldapsearch -x -w "$LDAP_PW" -b dc=acme',
    'deploy --token="$GITHUB_TOKEN_V2" --yes',
    'ansible-playbook x.yml -e "db_pass=$DB_PASS1"',
)
plain(
    "command_substitution",
    'mysql --password="$(cat /run/secrets/db2)" app',
    "export TOKEN=$(aws ecr get-login-password --region eu-west-1)",
    "PASSWORD=`openssl rand -base64 24`",
    'TOKEN="$(vault kv get -field=token secret/ci2)"',
    "--password $(op read op://prod/db2/password)",
    'curl -H "Authorization: Bearer $(gcloud auth print-access-token)" https://x',
    "password=$(security find-generic-password -w -s acme1)",
    "curl -u admin:$(cat pw2.txt) https://x",
)
plain(
    "windows_variable",
    "set PGPASSWORD=%DB_PASSWORD%",
    "mysql --password=%MYSQL_PWD% app",
    "sqlcmd -U sa -P %SA_PASSWORD1% -Q x",
    "$env:TOKEN = $env:CI_JOB_TOKEN2",
    "-Password $Credential.Password",
    "--api-key %API_KEY_V2%",
    "docker login -u x -p %REG_PASS%",
)
plain(
    "templates",
    "password: {{ lookup('env', 'DB_PASSWORD2') }}",
    "token: {{ vault_token_v2 }}",
    'secret: "{{ .Values.auth.secretKey1 }}"',
    "password: ${DB_PASSWORD:?must be set}",
    "api_key: ${API_KEY_V2}",
    "password: @@DB_PASSWORD@@",
    "password=@db.password@",
    "token: ${{ inputs.token1 }}",
    "secret = var.db_secret_v2",
    "password = data.aws_secretsmanager_secret_version.db1.secret_string",
    "password: !vault-kv secret/db2#password",
    "api_key: env(API_KEY_2)",
    "password = random_password.db1.result",
    "<%= Rails.application.credentials.secret_key2 %>",
    "token: op://vault/item2/field",
    "password: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db1-AbC2dE",
    "client_secret: projects/acme/secrets/oauth2/versions/latest",
    "password: vault:secret/data/db2#password",
    "DB_PASSWORD=#{ENV['DB_PASSWORD2']}",
    "password: [[ password1 ]]",
)
plain(
    "placeholders",
    "mysql -u root -p<password> app",
    "--password=<your password here>",
    "curl -u user:<api-token> https://x",
    "export API_KEY=[your-api-key]",
    "token: YOUR_TOKEN_HERE",
    "AWS_SECRET_ACCESS_KEY=your-secret-access-key",
    "client_secret=xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
    "sk-ant-api03-XXXXXXXXXXXXXXXXXXXXXXXX",
    "token=abc123",
    "Bearer {access_token}",
    "Authorization: Bearer YOUR_ACCESS_TOKEN",
    "api_key: <paste-your-key-2-here>",
    "https://hooks.slack.com/services/XXXXXXXXX/XXXXXXXXX/XXXXXXXXXXXXXXXXXXXXXXXX",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "https://discord.com/api/webhooks/<id>/<token>",
    "ghp_your_token_here",
    "glpat-xxxxxxxxxxxxxxxxxxxx",
    "postgres://user:pass@localhost/db",
    "mongodb://username:password@host:27017",
    "redis://:yourpassword@localhost:6379",
    "password: ***",
    "secret: ██████████",
    "token: (hidden)",
    "token: n/a",
    "password: -",
)
# Checksums and identifiers
drawn(
    "bsd_checksum",
    lambda d: d.hex(32),
    "MD5 (keyring.tar.gz) = {}",
    "MD5 (token.txt) = {}",
    "MD5 (password-store.iso) = {}",
    "MD5 (secrets.json) = {}",
)
drawn(
    "bsd_sha256",
    lambda d: d.hex(64),
    "SHA256 (auth-key.bin) = {}",
    "SHA256 (secret_service-1.2.tar.gz) = {}",
    "SHA2-256(tokens.db)= {}",
    "SHA512/256 (keys) = {}",
)
drawn(
    "gnu_checksum",
    lambda d: d.hex(64),
    "{}  secrets.tar.gz",
    "{} *keystore.jks",
    "{}  ./auth/token.py",
    "sha256sum: password.txt: {}",
    "SHA-256 of token.zip: {}",
)
drawn("sri", lambda d: d.base64(48), 'integrity="sha384-{}" crossorigin', "hash = sha384-{}")
drawn(
    "nix",
    lambda d: d.base64(32),
    'hash = "sha256-{}";',
    'vendorHash = "sha256-{}";',
    'cargoHash = "sha256-{}";',
)
drawn("bazel", lambda d: d.hex(64), 'sha256 = "{}",', 'integrity_sha256: "{}"')
drawn("lockfile", lambda d: d.hex(64), '  sha256 "{}"', "checksum: sha256:{}", "digest = '{}'")
drawn("terraform_lock", lambda d: d.base64(32), '    "h1:{}",', '    "zh:{}",')
drawn(
    "git_objects",
    lambda d: d.hex(40),
    "index {}..0000000",
    "tree {}",
    "parent {}",
    "Merge: {}",
    "refs/heads/key-rotation {}",
    "submodule auth at {}",
)
drawn(
    "git_log",
    lambda d: d.hex(7),
    "{} auth: rotate token storage",
    "* {} (HEAD) Add secret scanning",
    "revert {} password policy",
    "pick {} Add api key docs",
)
drawn(
    "oci",
    lambda d: d.hex(64),
    "ghcr.io/acme/secrets-operator@sha256:{}",
    "Status: token-service@sha256:{}",
    "layer {}: Pull complete",
)
drawn(
    "k8s_ids",
    lambda d: d.text("bcdfghjklmnpqrstvwxz2456789", 5),
    "pod/auth-7d9c6b5f4-{}",
    "secret/default-token-{}",
    "token-service-6c8f9d7b5-{} 1/1 Running",
)
drawn(
    "uuids",
    lambda d: d.uuid(),
    "job {} failed",
    "tenantId: {}",
    "client_id={}",
    '"keyId": "{}"',
    "x-request-id: {}",
    "session {}",
    "secretId={}",
    "correlation token id {}",
)
drawn(
    "public_ids",
    lambda d: d.alnum(20),
    "client_id: {}",
    "app_id={}",
    '"projectKeyId": "{}"',
    "account={}",
    "merchant_id={}",
)
drawn(
    "ulid",
    lambda d: "01" + d.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24),
    "id={}",
    '"run": "{}"',
    "event {}",
)
drawn("etag", lambda d: d.hex(32), 'etag: W/"{}"', 'If-None-Match: "{}"', "Content-MD5: {}")
drawn(
    "hex_colors", lambda d: d.hex(6), "--token-accent: #{}", "key color #{}", "primaryToken: '#{}'"
)
drawn("short_hash", lambda d: d.hex(8), "chunk-{}.js", "key-icon.{}.svg", "token.{}.woff2")
drawn(
    "public_pem",
    lambda d: d.base64(270),
    "-----BEGIN RSA PUBLIC KEY-----\n{}\n-----END RSA PUBLIC KEY-----",
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{}\n-----END PGP PUBLIC KEY BLOCK-----",
)
drawn(
    "signature",
    lambda d: d.base64(96),
    "-----BEGIN PGP SIGNATURE-----\n\n{}\n-----END PGP SIGNATURE-----",
)
drawn(
    "csr",
    lambda d: d.base64(300),
    "-----BEGIN CERTIFICATE REQUEST-----\n{}\n-----END CERTIFICATE REQUEST-----",
    "caBundle: {}",
    "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t{}",
)
drawn(
    "gpg_key_id",
    lambda d: d.text(UPPER[:6] + "0123456789", 40),
    "gpg: key {} imported",
    "Key fingerprint = {}",
    "signed-by {}",
)
drawn(
    "ssh_fingerprint",
    lambda d: ":".join(d.hex(2) for _ in range(16)),
    "RSA key fingerprint is MD5:{}.",
    "2048 {} /home/ana/.ssh/id_rsa.pub (RSA)",
)
drawn(
    "publishable", lambda d: d.alnum(24), "pk_live_{}", "pk_test_{}", "publishableKey: pk_live_{}"
)
drawn("analytics", lambda d: d.text(UPPER, 10), "gtag('config', 'G-{}')", "GTM-{}", "UA-12345-{}")
drawn(
    "model_ids",
    lambda d: d.alnum(24),
    "asst_{}",
    "thread_{}",
    "run_{}",
    "resp_{}",
    "file-{}",
    "batch_{}",
)
drawn("stripe_objects", lambda d: d.alnum(24), "ch_{}", "evt_{}", "in_1{}", "acct_1{}", "pm_1{}")
drawn(
    "youtube_list",
    lambda d: d.url64(34),
    "https://www.youtube.com/playlist?list={}",
    "https://drive.google.com/file/d/{}/view",
)
drawn(
    "bitcoin",
    lambda d: d.text("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 33),
    "send to 1{}",
    "address 3{}",
)
drawn(
    "ipfs",
    lambda d: d.text("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 44),
    "ipfs://Qm{}",
    "CID Qm{}",
)
drawn(
    "fonts",
    lambda d: d.base64(150),
    "url(data:font/woff2;base64,{})",
    "data:application/octet-stream;base64,{}",
)
drawn(
    "sourcemap",
    lambda d: d.text(BASE64, 60),
    '"mappings":"{}"',
    "//# sourceMappingURL=data:application/json;base64,{}",
)
drawn(
    "memory",
    lambda d: d.hex(12),
    "segfault at 0x7f{} ip",
    "<Token object at 0x{}>",
    "KeyHandler@{}",
)
drawn("mac_serial", lambda d: d.text(UPPER, 12), "serial {}", "device key slot: {}")
drawn("hex_test", lambda d: d.text(HEX, 24), "ObjectId('{}')", '"_id": "{}"', "span_id={}")
drawn(
    "password_hashes",
    lambda d: d.alnum(53),
    "$2b$12${}",
    "password_hash: $2a$10${}",
    "root:$6$salt${}:19000:0:99999:7:::",
)
drawn(
    "build_names",
    lambda d: d.text(LOWER, 9),
    "https://auth-{}-acme.vercel.app",
    "https://deploy-preview-{}--tokens.netlify.app",
)
drawn(
    "cursor",
    lambda d: d.base64(30),
    '"next_cursor": "{}"',
    "pageToken={}",
    '"endCursor":"{}"',
    "syncToken: {}",
    "resumeToken={}",
)
drawn("csp_nonce", lambda d: d.base64(16), '<script nonce="{}">', "nonce={}", "'sha256-{}'")
drawn(
    "dnssec",
    lambda d: d.base64(64),
    "acme.dev. IN DNSKEY 257 3 13 {}",
    "v=DKIM1; k=rsa; p={}",
    "google-site-verification={}",
)
drawn(
    "numbers",
    lambda d: d.digits(12),
    "order key {}",
    "ticket token number {}",
    "account {}",
    "tracking id {}",
)

# Talk about secrets
plain(
    "de",
    "Das Passwort ist falsch.",
    "das Passwort ist abgelaufen, bitte ändern",
    "Passwort vergessen?",
    "Das Passwort muss mindestens 8 Zeichen haben",
    "Bitte geben Sie Ihr Kennwort ein: ",
    "Der Schlüssel ist ungültig",
    "Der Token ist abgelaufen",
    "die PIN ist vierstellig",
    "Passwort: erforderlich",
    "Passwort zurücksetzen in v2.13.4",
    "Der Schlüssel liegt im Tresor",
    "Zugangsdaten: siehe Wiki",
    "das Passwort ist in 1Password",
    "Das Kennwort für Windows11 ist im Tresor hinterlegt",
    "der Schlüssel zum Erfolg ist Geduld",
    "Passwort lautet wie beim letzten Mal",
)
plain(
    "fr",
    "le mot de passe est obligatoire",
    "Mot de passe oublié ?",
    "Le mot de passe est incorrect, réessayez",
    "mot de passe : requis",
    "la clé est invalide",
    "la clé de voûte du projet",
    "le jeton a expiré",
    "le code secret est demandé au démarrage",
    "Le mot de passe doit contenir au moins 12 caractères",
    "identifiants : voir le wiki",
    "la clé API est dans 1Password",
    "le mot de passe est chiffré en SHA256",
)
plain(
    "es",
    "la contraseña es obligatoria",
    "Contraseña incorrecta",
    "¿Olvidaste tu contraseña?",
    "contraseña: requerida",
    "la clave es la paciencia",
    "la clave primaria es user_id2",
    "el token ha caducado",
    "La contraseña debe tener al menos 8 caracteres",
    "credenciales: ver la wiki",
    "la contraseña está en 1Password",
    "mi contraseña es demasiado corta",
)
plain(
    "ja",
    "パスワードは必須です",
    "パスワードは8文字以上で入力してください",
    "パスワードを忘れた場合",
    "パスワードが違います",
    "APIキーは環境変数 OPENAI_API_KEY に設定します",
    "トークンは1時間で失効します",
    "キーは user_id です",
    "暗証番号は4桁です",
    "パスワード：必須",
    "パスワードは bcrypt でハッシュ化します",
    "主キーは order_id2 です",
    "シークレットは AWS Secrets Manager に保存",
)
plain(
    "ko",
    "비밀번호는 필수입니다",
    "비밀번호가 틀렸습니다",
    "비밀번호는 8자 이상이어야 합니다",
    "토큰이 만료되었습니다",
    "API 키는 환경 변수 OPENAI_API_KEY 로 설정하세요",
    "비밀번호: 필수",
    "키는 user_id 입니다",
    "암호화는 AES256 으로 합니다",
    "비밀번호를 재설정하세요",
    "토큰은 1시간 후 만료됩니다",
    "기본 키는 order_id2 입니다",
)
plain(
    "zh",
    "密码必须包含8个字符",
    "密码是必填项",
    "密钥轮换策略 v2",
    "令牌有效期为 3600 秒",
    "密码使用 bcrypt 加密",
    "主键是 user_id2",
    "请在 .env 中设置 API 密钥",
    "密码：必填",
)
plain(
    "en",
    "the password is incorrect",
    "The API key is invalid or expired",
    "the token is valid for 24h",
    "password is stored in 1Password",
    "the secret is in AWS Secrets Manager under prod/db2",
    "key: value pairs",
    "the passphrase is optional",
    "PIN is required",
    "a token is issued per tenant",
    "my password is too short",
    "the api key is read from config2.yaml",
    "passwords are hashed with bcrypt",
    "credentials are rotated every 30d",
    "the key is user_id:order_id",
    "Token count: 128000",
    "password reset link expires in 15min",
    "passkey support landed in v3.2.1",
    "the secret to good tests is determinism",
    "pass the token to the next handler2",
    "the pin is soldered to GPIO17",
    "your PIN is 4 digits long",
)
plain(
    "logs",
    "auth: token refresh took 123ms",
    "INFO token_cache hit=1024 miss=17",
    "secret/db-credentials created",
    "Successfully logged in with key id 12345678",
    "key=user:1234:profile ttl=3600",
    "GET /oauth2/v1/keys 200 12ms",
    "token validation failed: exp=1700000000 now=1700000100",
    "password attempts: 3/5",
    "keys: 12 tokens: 4096 secrets: 0",
    "loaded keyring 0x7f00 (12 keys)",
)
plain(
    "code",
    "if token.type == TokenType.IDENT2:",
    "const [password, setPassword] = useState('')",
    "password: z.string().min(8).max(64)",
    'token := r.Header.Get("X-Auth-Token")',
    "secret, err := client.Secrets(ns).Get(ctx, name2)",
    "assert_eq!(tokens[3].kind, Kind::Number2)",
    "private val apiKey: String by lazy { load() }",
    'key = f"{user_id}:{order_id2}"',
    "this.password = bcrypt.hashSync(password, 10)",
    "let key = PublicKey::from_str(&s1)?;",
    "api_key = load_secret('openai_key_v2')",
    "PASSWORD_RE = re.compile(r'^(?=.*[A-Z]).{8,}$')",
    "passwordField.sendKeys(testUser2.password)",
    "<PasswordInput id='pw1' />",
    "token_ids = tokenizer.encode(text1)",
    "kwargs.pop('api_key', None)",
    "headers['Authorization'] = 'Bearer ' + token2",
    "password = params[:password1]",
    "self.api_key = api_key or os.environ.get('API_KEY_V2')",
    "func (k *Key) Bytes() []byte { return k.b32[:] }",
    'map.put("token", tokenProvider.get2());',
    "token = request.headers.get('x-token-v2')",
    "password = getPassword(user2.id)",
)
plain(
    "config_words",
    "auth_method: scram-sha-256",
    "password_encryption = scram-sha-256",
    "token_format: opaque-v2",
    "key_algorithm: ecdsa-p256",
    "secret_backend: aws-ssm-v2",
    "ssl_key_password_file: /etc/ssl/pw1",
    "key-type: ed25519",
    "token_lifetime: P30D",
    "PasswordAuthentication no",
    "AuthorizedKeysFile .ssh/authorized_keys2",
    "KeyVaultName: acme-kv-prod01",
    "secretsmanager:GetSecretValue",
    "kms_key_id: alias/acme-prod2",
    "TokenUrl: https://login.acme.dev/oauth2/v2.0/token",
)
plain(
    "command_words",
    "docker run -p 127.0.0.1:5432:5432 postgres:16",
    "ssh -p 2222 -i key.pem ubuntu@10.0.0.1",
    "kubectl get secret db-credentials -o yaml",
    "openssl rand -hex 32 > token.txt",
    "aws secretsmanager get-secret-value --secret-id prod/db2",
    "ssh-keygen -t ed25519 -C 'bob@acme.dev'",
    "git log --grep='token' -n 20",
    "vault kv put secret/db2 password=@pw.txt",
    "gh secret set NPM_TOKEN < token.txt",
    "mysql -u root -p app < dump2.sql",
    'psql "host=db user=app sslmode=require"',
    "7z x archive.7z -oout2",
    "zip -r keys2.zip keys/",
    "unzip -P",
    "htpasswd -c .htpasswd bob2",
    "passwd -l user2",
    "sudo -u app2 printenv PATH",
)
plain(
    "headers",
    "Access-Control-Allow-Headers: Authorization, X-Api-Key",
    'WWW-Authenticate: Bearer error="invalid_token"',
    "X-Token-Expires: 2026-03-02T10:11:12Z",
    "Authorization: Basic <base64>",
    "Authorization: Bearer ${token}",
    "Vary: Authorization, Cookie",
    "Cookie: consent=yes; theme=dark; locale=de-DE",
    "X-RateLimit-Key: ip-10.0.0.1",
)
plain(
    "urls_plain",
    "https://acme.dev/reset-password?step=2",
    "https://github.com/acme/token-service/blob/main/src/key_store2.rs#L10-L20",
    "https://docs.acme.dev/api-keys/rotate-v2",
    "s3://acme-secrets-prod2/path/to/key",
    "https://acme.dev/oauth/authorize?response_type=token&client_id=web2",
    "https://discord.com/channels/1234567890/987654321",
    "https://hooks.slack.com/ is down",
    "https://acme.dev/hooks/README",
    "https://hc-ping.com/ docs",
)
plain(
    "paths",
    "/etc/letsencrypt/live/acme.dev/privkey1.pem",
    "secrets/prod/db2.enc.yaml",
    "src/auth/token/v2/key_manager.ts:123:45",
    "C:\\Users\\bob\\.aws\\credentials",
    "tests/fixtures/keys/id_rsa_2048.pub",
    "key: certs/acme-2026.p12",
)
