"""Secrets that the syntax around them identifies, such as passwords in addresses."""

from __future__ import annotations

import base64

from redaction.draw import BASE32, Draw

from .kinds import structural


def _basic(d: Draw) -> str:
    return base64.b64encode(f"admin:{d.alnum(14)}".encode()).decode()


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
