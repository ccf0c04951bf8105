"""Tokens with a telling prefix."""

from __future__ import annotations

from redaction.draw import BASE64

from .kinds import lower, prefix, upper

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
