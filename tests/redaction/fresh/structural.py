"""Secrets that the syntax around them identifies, such as passwords in addresses."""

from __future__ import annotations

import base64

from redaction.corpus import Kind, Secret
from redaction.draw import BASE32, BASE64, Draw

from .kinds import FRESH, structural


def _pair(d: Draw) -> str:
    return base64.b64encode(f"svc-{d.word()}:{d.alnum(16)}".encode()).decode()


structural(
    "url_clickhouse",
    lambda d: d.alnum(18),
    "clickhouse://default:{}@ch.internal:9440/{word}?secure=1",
)
structural(
    "url_smtp",
    lambda d: d.alnum(16),
    "EMAIL_URL=smtp://mailer:{}@smtp.acme.dev:587",
    "MAILER_DSN=smtps://{word}:{}@mx.acme.dev",
)
structural("url_ldap", lambda d: d.alnum(14), "ldaps://cn=reader:{}@ldap.acme.dev:636/dc=acme")
structural(
    "url_snowflake", lambda d: d.alnum(18), "snowflake://loader:{}@ab12345.eu-west-1/{word}/public"
)
structural(
    "url_cloudinary", lambda d: d.url64(27), "CLOUDINARY_URL=cloudinary://874837483274837:{}@acme"
)
structural(
    "url_sftp_encoded",
    lambda d: d.alnum(8) + "%40" + d.alnum(6),
    "sftp://{word}:{}@files.acme.dev/drop",
)
structural(
    "url_pip_index",
    lambda d: d.alnum(40),
    "pip install --index-url https://aws:{}@pypi.acme.dev/simple {word}",
)
structural(
    "url_markdown", lambda d: d.alnum(16), "see [the db](postgres://ro:{}@db/{word}) for details"
)
structural(
    "url_yaml", lambda d: d.alnum(16), "dsn: nats://edge:{}@nats-1:4222,nats://nats-2:4222\n"
)
structural(
    "oracle",
    lambda d: d.alnum(12),
    "sqlplus scott/{}@//db.acme.dev:1521/ORCL",
    "impdp system/{}@orcl directory=dp",
)
structural("jdbc_oracle", lambda d: d.alnum(12), "jdbc:oracle:thin:scott/{}@db:1521:xe")
structural(
    "bearer_python",
    lambda d: d.url64(44),
    'headers = {"Authorization": f"Bearer {}"}',
    "session.headers['Authorization'] = 'Bearer {}'",
)
structural(
    "bearer_http",
    lambda d: d.url64(48),
    "POST /v1/run HTTP/1.1\r\nHost: api.acme.dev\r\nAuthorization: Bearer {}\r\n\r\n",
)
structural(
    "httpie_header",
    lambda d: d.alnum(36),
    "http POST api.acme.dev/jobs Authorization:'Bearer {}' name={word}",
)
structural(
    "basic_escaped", _pair, '{"curl": "curl -H \\"Authorization: Basic {}\\" https://acme.dev"}'
)
structural(
    "digest",
    lambda d: d.hex(32),
    'Authorization: Digest username="bob", realm="acme", nonce="x", uri="/", response="{}"',
)
structural(
    "hmac_header",
    lambda d: d.base64(32),
    "Authorization: SharedKey acmestore:{}",
    "X-Hub-Secret: {}",
)
structural(
    "vendor_key_header",
    lambda d: d.alnum(32),
    "X-Shopify-Access-Token: {}",
    "X-Figma-Token: {}",
    "X-Goog-Api-Key: {}",
    "X-RapidAPI-Key: {}",
    "Api-Key: {}",
    "xi-api-key: {}",
)
structural(
    "gitlab_job",
    lambda d: d.url64(26),
    "JOB-TOKEN: {}",
    "curl --header 'DEPLOY-TOKEN: {}' https://git.acme.dev",
)
structural(
    "cookie_laravel",
    lambda d: d.base64(60),
    "Cookie: laravel_session={}; XSRF-TOKEN=x",
    "Cookie: remember_web={}",
)
structural(
    "cookie_python",
    lambda d: d.url64(48),
    "cookies = {'sessionid': '{}'}",
    "requests.get(u, cookies={'session_token': '{}'})",
)
structural(
    "ado_full",
    lambda d: d.password(),
    "Server=tcp:acme.database.windows.net,1433;Initial Catalog=app;User ID=sa;Password={};Connection Timeout=30;",
)
structural("jaas", lambda d: d.alnum(18), 'PlainLoginModule required username="app" password="{}";')
structural(
    "amqp_env", lambda d: d.alnum(18), "RABBITMQ_DEFAULT_PASS={}\n", "MINIO_ROOT_PASSWORD={}\n"
)
structural(
    "azure_event_hub",
    lambda d: d.base64(32),
    "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey={};EntityPath=x",
)
structural(
    "azure_iot",
    lambda d: d.base64(32),
    "HostName=hub.azure-devices.net;DeviceId=d1;SharedAccessKey={}",
)
structural(
    "s3_presigned",
    lambda d: d.hex(64),
    "https://b.s3.eu-west-1.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature={}",
)
structural(
    "gcs_signed",
    lambda d: d.hex(128),
    "https://storage.googleapis.com/b/o?GoogleAccessId=x&Expires=1&X-Goog-Signature={}",
)
structural(
    "cloudfront",
    lambda d: d.url64(120),
    "https://d1.cloudfront.net/f.zip?Expires=1&Key-Pair-Id=K1&Signature={}",
)
structural("git_extraheader", _pair, 'git -c http.extraheader="AUTHORIZATION: basic {}" fetch')
structural(
    "docker_login",
    lambda d: d.alnum(20),
    "docker login -u ci -p {} registry.acme.dev",
    "podman login --username ci --password {} quay.io",
)
structural(
    "helm_set",
    lambda d: d.alnum(18),
    "helm upgrade db acme/db --set auth.password={}",
    "helm install x . --set-string global.secretKey={}",
)
structural(
    "kubectl_literal",
    lambda d: d.alnum(20),
    "kubectl create secret generic s --from-literal=token={} -n {word}",
)
structural(
    "systemd", lambda d: d.alnum(20), 'Environment="DB_PASSWORD={}"\n', "Environment=API_TOKEN={}\n"
)
structural(
    "compose",
    lambda d: d.alnum(18),
    "    environment:\n      - POSTGRES_PASSWORD={}\n      - TZ=UTC\n",
    "    environment:\n      MYSQL_PASSWORD: {}\n",
)
structural(
    "powershell",
    lambda d: d.password(),
    "$env:DB_PASSWORD='{}'",
    "ConvertTo-SecureString '{}' -AsPlainText -Force",
)
structural(
    "windows_net",
    lambda d: d.alnum(12),
    "net use Z: \\\\srv\\share /user:acme\\bob {}",
    "cmdkey /add:srv /user:bob /pass:{}",
)
structural(
    "mysql_long",
    lambda d: d.alnum(14),
    "mysql --user=root --password={} -e 'show tables'",
    "mariadb-dump --password='{}' {word}",
)
structural(
    "psql_env", lambda d: d.alnum(14), "PGPASSWORD={} pg_dump -U app {word}", "PGPASSWORD='{}' psql"
)
structural(
    "mongosh",
    lambda d: d.alnum(14),
    "mongosh --host db -u admin -p {} --authenticationDatabase admin",
)
structural("ldapsearch", lambda d: d.alnum(12), "ldapsearch -x -D cn=admin -w {} -b dc=acme")
structural(
    "gpg",
    lambda d: d.alnum(14),
    "gpg --batch --passphrase '{}' -d backup.gpg",
    "gpg --passphrase={} -c a.tar",
)
structural(
    "ansible_cli", lambda d: d.alnum(14), "ansible-playbook site.yml -e ansible_become_pass={}"
)
structural("keytool", lambda d: d.alnum(12), "keytool -list -keystore a.jks -storepass {}")
structural(
    "aws_configure",
    lambda d: d.text(BASE64, 40),
    "aws configure set aws_secret_access_key {} --profile {word}",
)
structural(
    "gh_login",
    lambda d: d.alnum(40),
    "echo {} | gh auth login --with-token",
    "echo '{}' | docker login ghcr.io -u bob --password-stdin",
)
structural(
    "snmp", lambda d: d.alnum(14), "snmpwalk -v3 -u ops -l authPriv -a SHA -A {} -x AES host"
)
structural(
    "sql_user",
    lambda d: d.alnum(14),
    "CREATE LOGIN app WITH PASSWORD = '{}';",
    "CREATE USER app PASSWORD '{}';",
    "SET PASSWORD FOR 'app'@'%' = '{}';",
)
structural(
    "terraform_var",
    lambda d: d.alnum(20),
    'terraform apply -var="db_password={}"',
    "TF_VAR_admin_password={} terraform plan",
)
structural(
    "php_pdo",
    lambda d: d.alnum(14),
    "new PDO('mysql:host=db', 'root', '{}')",
    "mysqli_connect('db', 'root', '{}', 'app')",
)
structural("java_driver", lambda d: d.alnum(14), 'DriverManager.getConnection(url, "app", "{}")')
structural(
    "paramiko",
    lambda d: d.alnum(14),
    "ssh.connect('h', username='bob', password='{}')",
    'client.login("bob", "{}")',
)
structural(
    "otp_uri",
    lambda d: d.text(BASE32, 26),
    "otpauth://totp/ACME:ann?secret={}&issuer=ACME&digits=6",
)
structural(
    "wpa",
    lambda d: d.alnum(14),
    "wpa_passphrase office {}",
    'network={\n  ssid="office"\n  psk="{}"\n}',
)
structural("htpasswd", lambda d: d.alnum(12), "htpasswd -b /etc/nginx/.htpasswd bob {}")
structural("private_jwk", lambda d: d.url64(43), '{"kty":"oct","alg":"HS256","k":"{}"}')


def _key(d: Draw, _held_out: bool) -> Secret:
    body = d.base64(400)
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    label = d.rng.choice(["DSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY"])
    joint = d.rng.choice(["\n", "\r\n", "\\n"])
    text = joint.join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])
    inner = joint + joint.join(lines) + joint
    return Secret(f"cert.key = {text}\n", tuple(lines), (inner,))


FRESH.secrets.append(Kind("structural", "private_key_other_labels", _key))
