"""A second set of secrets, of kinds that the first set does not have; the rules were not tuned on it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from .corpus import Corpus, Kind, Secret
from .draw import BASE32, BASE64, LOWER, UPPER, Draw
from .surroundings import FRESH as PLACES

if TYPE_CHECKING:
    from collections.abc import Callable

FRESH = Corpus("fresh", PLACES)
prefix = FRESH.prefix


def structural(name: str, make: Callable[[Draw], str], *places: str) -> None:
    FRESH.placed("structural", name, make, *places)


def context(name: str, make: Callable[[Draw], str], *places: str) -> None:
    FRESH.placed("context", name, make, *places)


def prose(name: str, make: Callable[[Draw], str], *places: str) -> None:
    FRESH.placed("prose", name, make, *places)


def lower(d: Draw, low: int, high: int | None = None) -> str:
    return d.text(LOWER, low, high)


def upper(d: Draw, low: int, high: int | None = None) -> str:
    return d.text(UPPER, low, high)


# Webhooks: who knows the address may post.
prefix(
    "discord_webhook",
    lambda d: (
        d.rng.choice(["https://discord.com", "https://ptb.discord.com", "https://discordapp.com"])
        + f"/api/webhooks/{d.digits(18)}/",
        d.url64(68),
    ),
)
prefix(
    "teams_webhook",
    lambda d: (
        "https://acme.webhook.office.com/webhookb2/",
        f"{d.uuid()}@{d.uuid()}/IncomingWebhook/{d.hex(32)}/{d.uuid()}",
    ),
)
prefix(
    "teams_workflow",
    lambda d: (
        (
            f"https://prod-{d.digits(2)}.westeurope.logic.azure.com:443/workflows/abc/triggers/manual/paths/invoke"
            "?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig="
        ),
        d.url64(43),
    ),
)
prefix(
    "zapier_hook",
    lambda d: ("https://hooks.zapier.com/hooks/catch/", f"{d.digits(7)}/{lower(d, 7)}/"),
)
prefix(
    "slack_workflow",
    lambda d: (
        "https://hooks.slack.com/workflows/",
        f"T{upper(d, 10)}/A{upper(d, 10)}/{d.digits(18)}/{d.alnum(24)}",
    ),
)
prefix(
    "google_chat",
    lambda d: (
        f"https://chat.googleapis.com/v1/spaces/AAAA{d.alnum(7)}/messages?key=AIzaSy",
        f"{d.url64(33)}&token={d.url64(43)}",
    ),
)
prefix("make_hook", lambda d: ("https://hook.eu1.make.com/", lower(d, 32)))
prefix("mattermost_hook", lambda d: ("https://chat.acme.dev/hooks/", lower(d, 26)))
prefix(
    "rocketchat_hook", lambda d: ("https://rocket.acme.dev/hooks/", d.alnum(17) + "/" + d.alnum(42))
)
prefix("dingtalk", lambda d: ("https://oapi.dingtalk.com/robot/send?access_token=", d.hex(64)))
prefix("feishu", lambda d: ("https://open.feishu.cn/open-apis/bot/v2/hook/", d.uuid()))
prefix("wecom", lambda d: ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", d.uuid()))
prefix("bitrix", lambda d: ("https://acme.bitrix24.com/rest/1/", lower(d, 16) + "/"))
prefix(
    "pagerduty_hook",
    lambda d: ("https://events.pagerduty.com/integration/", d.hex(32)),
)
prefix("ifttt", lambda d: ("https://maker.ifttt.com/trigger/door/with/key/", d.url64(43)))
# Clouds
prefix("azure_client_digit", lambda d: ("", f"{d.alnum(3)}{d.digits(1)}Q~{d.url64(34)}"))
prefix("azure_registry", lambda d: ("", f"{d.text(BASE64, 42)}+ACR{d.alnum(6)}"))
prefix("azure_functions", lambda d: ("", f"{d.url64(44)}AzFu{d.alnum(6)}=="))
prefix("azure_cosmos", lambda d: ("", f"{d.text(BASE64, 76)}ACDb{d.alnum(6)}=="))
prefix("azure_openai", lambda d: ("", f"{d.alnum(52)}JQQJ99{d.alnum(26)}"))
prefix("azure_bus", lambda d: ("", f"{d.text(BASE64, 33)}+ASb{d.alnum(6)}="))
prefix("azure_devops", lambda d: ("", f"{d.alnum(52)}JQQJ99{d.alnum(18)}AZDO{d.alnum(4)}"))
prefix("google_hmac", lambda d: ("GOOG1E", upper(d, 55)))
prefix("google_refresh", lambda d: ("1//0", d.url64(90)))
prefix("aws_session", lambda d: ("IQoJb3JpZ2luX2Vj", d.base64(240)))
prefix("aws_bedrock", lambda d: ("ABSK", d.base64(96)))
prefix("amazon_client", lambda d: ("amzn1.oa2-cs.v1.", d.hex(64)))
prefix("yandex_cloud", lambda d: ("AQVN", d.url64(36)))
prefix("yandex_static", lambda d: ("YC", "P" + d.url64(37)))
prefix("exoscale", lambda d: ("EXO", d.hex(24)))
prefix("akamai", lambda d: ("akab-", f"{lower(d, 16)}-{lower(d, 16)}"))
prefix("tencent", lambda d: ("AKID", d.alnum(32)))
prefix("volcengine", lambda d: ("AKLT", d.url64(43)))
prefix("scalingo", lambda d: ("tk-us-", d.url64(48)))
prefix("aiven", lambda d: ("AVNS_", d.url64(19)))
prefix("clickhouse_cloud", lambda d: ("4b1d", d.alnum(38)))
prefix("render", lambda d: ("rnd_", d.alnum(32)))
prefix("vercel_blob", lambda d: ("vercel_blob_rw_", d.alnum(16) + "_" + d.alnum(30)))
prefix("cloudflare_origin", lambda d: ("v1.0-", f"{d.hex(24)}-{d.hex(146)}"))
prefix("neon", lambda d: ("napi_", lower(d, 64)))
prefix("mongo_atlas", lambda d: ("mdb_sa_sk_", d.url64(40)))
prefix("elastic_cloud", lambda d: ("essu_", d.base64(60)))
# Models
prefix("anthropic_oauth", lambda d: ("sk-ant-oat01-", d.url64(86) + "AA"))
prefix("openai_service", lambda d: ("sk-svcacct-", d.url64(58) + "T3BlbkFJ" + d.url64(58)))
prefix("langfuse", lambda d: ("sk-lf-", d.uuid()))
prefix("together", lambda d: ("tgp_v1_", d.url64(43)))
prefix("cerebras", lambda d: ("csk-", lower(d, 48)))
prefix("voyage", lambda d: ("pa-", d.url64(43)))
prefix("jina", lambda d: ("jina_", d.alnum(60)))
prefix("llama_cloud", lambda d: ("llx-", d.alnum(48)))
prefix("zhipu", lambda d: ("", f"{d.hex(32)}.{d.alnum(16)}"))
prefix("friendli", lambda d: ("flp_", d.alnum(46)))
prefix("brave_search", lambda d: ("BSA", d.url64(28)))
prefix("firecrawl", lambda d: ("fc-", d.hex(32)))
prefix("browserbase", lambda d: ("bb_live_", d.url64(27)))
prefix(
    "helicone",
    lambda d: ("sk-helicone-", f"{lower(d, 7)}-{lower(d, 7)}-{lower(d, 7)}-{lower(d, 7)}"),
)
prefix("modal", lambda d: ("as-", d.alnum(22)))
prefix("anyscale", lambda d: ("esecret_", lower(d, 26)))
prefix("weights_biases", lambda d: ("wandb_v1_", d.alnum(77)))
# Code, packages, builds
prefix("gitlab_trigger", lambda d: ("glptt-", d.hex(40)))
prefix("gitlab_oauth", lambda d: ("gloas-", d.url64(64)))
prefix("gitlab_routable", lambda d: ("glpat-", d.url64(40) + ".01." + lower(d, 9)))
prefix("bitbucket", lambda d: ("ATBB", d.alnum(24) + upper(d, 8)))
prefix("nuget", lambda d: ("oy2", lower(d, 43)))
prefix("crates", lambda d: ("cio", d.alnum(32)))
prefix("jsr", lambda d: ("jsrp_", lower(d, 40)))
prefix("packagist", lambda d: ("packagist_org_uut_", d.hex(68)))
prefix("jfrog", lambda d: ("AKCp", d.alnum(69)))
prefix("jfrog_ref", lambda d: ("cmVmdGtu", d.alnum(56)))
prefix("cloudsmith", lambda d: ("csa_", d.hex(40)))
prefix("chromatic", lambda d: ("chpt_", lower(d, 15)))
prefix("depot", lambda d: ("depot_org_", d.hex(64)))
prefix("harness", lambda d: ("pat.", f"{d.url64(22)}.{d.hex(24)}.{d.alnum(20)}"))
prefix("octopus", lambda d: ("API-", upper(d, 26)))
prefix("infracost", lambda d: ("ico-", d.alnum(32)))
prefix("pulumi", lambda d: ("pul-", d.hex(40)))
prefix("openshift", lambda d: ("sha256~", d.url64(43)))
prefix("sourcegraph", lambda d: ("sgp_", f"{d.hex(16)}_{d.hex(40)}"))
prefix("launchdarkly", lambda d: ("sdk-", d.uuid()))
prefix("onepassword", lambda d: ("ops_eyJ", d.base64(240)))
prefix("dbt", lambda d: ("dbtc_", d.url64(38)))
prefix("retool", lambda d: ("retool_01", lower(d, 32)))
prefix("kong", lambda d: ("kpat_", d.alnum(45)))
prefix("netbird", lambda d: ("nbp_", d.alnum(36)))
prefix("defined_networking", lambda d: ("dnkey-", f"{upper(d, 26)}-{upper(d, 52)}"))
prefix("ory", lambda d: ("ory_pat_", d.alnum(32)))
# Watching
prefix("honeycomb", lambda d: ("hcaik_", lower(d, 58)))
prefix("posthog", lambda d: ("phx_", d.alnum(43)))
prefix("axiom", lambda d: ("xaat-", d.uuid()))
prefix("checkly", lambda d: ("cu_", d.hex(32)))
prefix("newrelic_license", lambda d: ("", d.hex(36) + "NRAL"))
prefix("sentry_user", lambda d: ("sntryu_", d.hex(64)))
prefix("statsig", lambda d: ("secret-", d.alnum(43)))
prefix("logfire", lambda d: ("pylf_v1_eu_", d.alnum(43)))
prefix("prefect", lambda d: ("pnu_", d.alnum(36)))
prefix("maxmind", lambda d: ("", f"{d.alnum(6)}_{d.alnum(29)}_mmk"))
# Money
prefix("adyen", lambda d: ("AQE", lower(d, 5) + d.text(BASE64, 80) + "-" + d.base64(30)))
prefix("flutterwave", lambda d: ("FLWSECK-", d.hex(32) + "-X"))
prefix("mollie", lambda d: ("live_", d.alnum(30)))
prefix("paddle", lambda d: ("pdl_live_apikey_", f"{lower(d, 26)}_{d.alnum(22)}_{d.alnum(3)}"))
prefix("xendit", lambda d: ("xnd_production_", d.alnum(46)))
prefix("midtrans", lambda d: ("Mid-server-", d.url64(24)))
prefix("plaid", lambda d: ("access-production-", d.uuid()))
prefix("square_oauth", lambda d: ("EAAA", d.url64(60)))
prefix("braintree", lambda d: ("access_token$production$", f"{lower(d, 16)}${d.hex(32)}"))
prefix("checkout_com", lambda d: ("sk_sbox_", lower(d, 26) + d.rng.choice("*#$=")))
prefix("woocommerce", lambda d: ("cs_", d.hex(40)))
prefix("easypost", lambda d: ("EZAK", d.alnum(54)))
prefix("shippo", lambda d: ("shippo_live_", d.hex(40)))
# Messages and the rest
prefix("intercom", lambda d: ("dG9rO", d.base64(40)))
prefix("onesignal", lambda d: ("os_v2_app_", lower(d, 100)))
prefix("mailersend", lambda d: ("mlsn.", d.hex(64)))
prefix("typeform", lambda d: ("tfp_", d.url64(44) + "_" + d.alnum(14)))
prefix("contentful", lambda d: ("CFPAT-", d.url64(43)))
prefix("asana", lambda d: ("1/", f"{d.digits(16)}:{d.hex(32)}"))
prefix("clickup", lambda d: ("pk_", f"{d.digits(8)}_{upper(d, 32)}"))
prefix("trello", lambda d: ("ATTA", d.hex(64) + d.hex(8).upper()))
prefix(
    "twitter_bearer",
    lambda d: ("AAAAAAAAAAAAAAAAAAAAA", f"{d.alnum(20)}%2B{d.alnum(40)}%3D{d.alnum(20)}"),
)
prefix("instagram", lambda d: ("IGQV", d.url64(120)))
prefix("wix", lambda d: ("IST.eyJ", d.url64(120) + "." + d.url64(200) + "." + d.url64(86)))
prefix("riot", lambda d: ("RGAPI-", d.uuid()))
prefix("adafruit", lambda d: ("aio_", d.alnum(28)))
prefix("frameio", lambda d: ("fio-u-", d.url64(64)))
prefix("salesforce", lambda d: ("00D", f"{d.alnum(12)}!{d.alnum(96)}"))
prefix("zoho", lambda d: ("1000.", f"{d.hex(32)}.{d.hex(32)}"))
prefix("settlemint", lambda d: ("sm_pat_", d.alnum(16)))
prefix(
    "authress", lambda d: ("sc_", f"{lower(d, 14)}.{lower(d, 4)}.acc_{lower(d, 12)}.{d.url64(60)}")
)
prefix("duffel", lambda d: ("duffel_live_", d.url64(43)))
prefix("readme", lambda d: ("rdme_", lower(d, 70)))
prefix("nostr", lambda d: ("nsec1", lower(d, 58)))
prefix(
    "telegram_url",
    lambda d: ("https://api.telegram.org/bot", f"{d.digits(10)}:AA{d.url64(33)}/getMe"),
)
prefix(
    "jwe",
    lambda d: (
        "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.",
        f"{d.url64(86)}.{d.url64(16)}.{d.url64(60)}.{d.url64(22)}",
    ),
)
prefix("unknown_vendor_pat", lambda d: ("zeta_pat_", d.alnum(40)))
prefix("unknown_vendor_secret", lambda d: ("orbit_secret_", d.alnum(36)))


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
