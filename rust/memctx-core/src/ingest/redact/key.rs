//! Whether a name in a program, a file or a sentence names a secret.

use super::value::Proof;

/// What a name says its value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) kind: &'static str,
    pub(super) proof: Proof,
}

/// Longer names are cut: nobody names a secret so.
pub(super) const LONGEST_NAME: usize = 80;

/// A name that ends so names something about a secret, not the secret.
const ABOUT: &[&str] = &[
    "id", "ids", "name", "names", "type", "types", "file", "files", "filename", "path", "dir", "url", "uri", "endpoint", "length",
    "len", "size", "count", "counts", "limit", "limits", "max", "min", "policy", "expiry", "expires", "expire", "expiration",
    "ttl", "age", "version", "format", "field", "fields", "label", "hint", "prompt", "placeholder", "regex", "pattern", "alg",
    "algorithm", "method", "mode", "provider", "enabled", "disabled", "required", "hash", "hashed", "digest", "ref", "arn", "class",
    "color", "index", "position", "usage", "budget", "window", "ring", "store", "manager", "service", "handler", "param",
    "location", "source", "status", "strength", "rotation", "date", "time", "at", "scope", "scopes", "owner", "issuer",
    "audience", "kind", "template", "schema", "validator", "error", "errors", "message", "title", "text", "input", "form",
    "page", "button", "view", "column", "table", "row", "bits", "checksum", "fingerprint", "thumbprint", "sha", "sha1", "sha256",
    "md5", "etag", "commit", "rate", "cost", "price", "per", "used", "word", "words", "map", "list", "set", "spec", "config",
    "settings", "options", "env", "var", "variable", "generator", "factory", "builder", "parser", "provider's", "docs", "hash's",
    "description", "help", "desc", "example", "region", "zone", "group", "role", "domain", "host", "port", "manager's", "style",
    "less", "confirmation", "verified", "changed", "created", "updated", "last4", "suffix", "prefix", "engine", "backend",
];

/// Before `token` these mean a place in a list, a piece of text or a design.
const NOT_TOKENS: &[&str] = &[
    "page", "next", "prev", "previous", "continuation", "continue", "pagination", "sync", "design", "lex", "eos", "bos", "pad",
    "unk", "mask", "special", "prompt", "completion", "total", "num", "css", "color", "stop", "start", "end", "first", "last",
    "sep", "cls", "image", "cancellation", "cancel", "per", "syntax", "punctuation", "nft", "erc20", "resume", "fencing",
];

/// Before `key` these make it a name for something that is looked up or shown.
const NOT_KEYS: &[&str] = &[
    "cache", "primary", "partition", "sort", "foreign", "public", "object", "s3", "hash", "range", "index", "dedup", "idempotency",
    "unique", "lookup", "group", "row", "table", "map", "registry", "event", "message", "item", "list", "react", "query", "state",
    "store", "setting", "config", "translation", "i18n", "locale", "label", "field", "column", "param", "header", "route", "path",
    "file", "asset", "bundle", "chunk", "module", "component", "element", "host", "known", "verify", "verification", "verifying",
    "lock", "mutex", "job", "task", "queue", "topic", "shard", "bucket", "prefix", "filter", "facet", "metric", "series",
    "tag", "trace", "span", "correlation", "request", "response", "arrow", "enter", "escape", "any", "the", "a", "each", "same",
    "new", "old", "last", "first", "next", "this", "that", "my", "your", "its", "by", "for", "no", "or", "and", "is", "in", "of", "sort",
    "composite", "natural", "surrogate", "candidate", "data", "json", "dict", "string", "int", "id", "name", "value", "type",
    "image", "artifact", "blob", "document", "record", "entity", "resource", "namespace", "package", "version", "node", "hot", "short",
    "attribute", "property", "variable", "env", "metadata", "routing", "segment", "cursor", "page", "menu", "keyboard", "pkg",
];

/// Before `key` these make it a secret.
const KEY_QUALIFIERS: &[&str] = &[
    "api", "access", "secret", "private", "signing", "sign", "encryption", "encrypt", "decryption", "master", "auth",
    "authentication", "authorization", "service", "account", "storage", "shared", "subscription", "license", "deploy", "app",
    "application", "consumer", "client", "admin", "webhook", "ssh", "gpg", "pgp", "rsa", "aes", "hmac", "jwt", "crypto",
    "session", "integration", "ingest", "ingestion", "write", "server", "wrapping", "root", "user", "bot", "developer", "dev",
    "team", "org", "project", "live", "test", "prod", "production", "staging", "sandbox", "restricted", "security", "cookie",
    "symmetric", "preshared", "psk", "ssl", "tls", "vault", "unseal", "recovery", "node", "wallet", "rest", "rpc", "sas",
    "instrumentation", "functions", "function", "loggedin", "nonce", "stream", "openai", "anthropic", "claude", "gemini",
    "google", "gmaps", "maps", "azure", "aws", "gcp", "stripe", "twilio", "sendgrid", "mailgun", "mailchimp", "postmark",
    "resend", "github", "gitlab", "slack", "discord", "telegram", "datadog", "dd", "newrelic", "sentry", "algolia", "mapbox",
    "cloudflare", "cf", "heroku", "vercel", "netlify", "supabase", "firebase", "mistral", "cohere", "groq", "deepseek", "hf",
    "huggingface", "replicate", "pinecone", "weaviate", "qdrant", "tavily", "serper", "serpapi", "exa", "elevenlabs",
    "deepgram", "assemblyai", "rapidapi", "openweather", "weather", "paypal", "square", "shopify", "plaid", "coinbase",
    "binance", "kraken", "alpaca", "okta", "auth0", "fastly", "linode", "hetzner", "vultr", "scaleway", "pagerduty", "opsgenie",
    "rollbar", "segment", "mixpanel", "amplitude", "zendesk", "intercom", "hubspot", "airtable", "notion", "linear", "jira",
    "trello", "asana", "dropbox", "box", "figma", "postman", "grafana", "splunk", "snyk", "codecov", "circleci", "travis",
    "wandb", "langsmith", "langchain", "langfuse", "openrouter", "perplexity", "xai", "together", "fireworks", "voyage", "jina",
    "dashscope", "zhipu", "moonshot", "qwen", "ocp", "apim",
];

/// Flat endings that hold both the qualifier and the word, as in `apikey` or `AUTHTOKEN`.
const FLAT_KEYS: &[&str] = &[
    "apikey", "accesskey", "secretkey", "privatekey", "authkey", "signingkey", "encryptionkey", "masterkey", "sharedkey",
    "accountkey", "servicekey", "clientkey", "appkey", "presharedkey", "deploykey", "securitykey", "storagekey",
    "sharedaccesskey", "secretaccesskey", "subscriptionkey", "licensekey", "encryptkey", "hmackey", "sshkey", "jwtkey", "adminkey",
];

/// Flat endings of tokens, for names without a seam.
const FLAT_TOKENS: &[&str] = &[
    "authtoken", "accesstoken", "refreshtoken", "bottoken", "apitoken", "sessiontoken", "bearertoken", "idtoken", "usertoken",
    "securitytoken", "csrftoken", "xsrftoken", "githubtoken", "privatetoken", "webtoken", "deploytoken", "pattoken",
];

const FLAT_PASSWORDS: &[&str] = &[
    "password", "passwd", "passphrase", "passwort", "requirepass", "masterauth", "bindpw", "rootpw", "userpass", "dbpass",
    "sshpass", "rootpass", "adminpass", "mysqlpwd", "userpwd", "dbpwd", "smtppass", "mailpass", "keypass", "storepass",
];

/// What the name says of its value, if that is a secret.
pub(super) fn named(name: &[u8]) -> Option<Named> {
    let words = Words::of(name);
    let last = words.last()?;
    if ABOUT.contains(&last) && !(last == "hash" && words.len() == 1) {
        return None;
    }
    if words.iter().any(|word| matches!(word, "public" | "publishable" | "pub" | "no" | "max" | "num" | "is" | "has" | "min")) {
        return None;
    }
    let mut previous = None;
    let mut found: Option<Named> = None;
    for word in words.iter() {
        if let Some(named) = of_word(word, previous) {
            found = match found {
                Some(best) if best.proof <= named.proof => Some(best),
                _ => Some(named),
            };
        }
        previous = Some(word);
    }
    found
}

fn of_word(word: &str, previous: Option<&str>) -> Option<Named> {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let some = |kind, proof| Some(Named { kind, proof });
    let ends = |list: &[&str]| list.iter().any(|end| word.ends_with(end));
    match word {
        "password" | "passwords" | "passwd" | "pwd" | "passphrase" | "passcode" | "passwort" | "senha" | "psk" | "pw" => {
            some("password", Proof::Password)
        }
        "pass" if previous.is_some() => some("password", Proof::Password),
        "pass" => some("password", Proof::Random),
        "secret" | "secrets" => some("secret", Proof::Random),
        "token" | "jwt" | "pat" if !previous.is_some_and(|before| NOT_TOKENS.contains(&before)) => {
            some("token", Proof::Random)
        }
        "credential" | "credentials" | "cred" | "creds" => some("credential", Proof::Random),
        "key" | "keys" if previous.is_some_and(|before| KEY_QUALIFIERS.contains(&before)) => some("api_key", Proof::Random),
        "key" if previous.is_some_and(|before| before.len() > 1 && !NOT_KEYS.contains(&before)) => {
            some("api_key", Proof::Long)
        }
        "crumb" | "login" => some("token", Proof::Long),
        "auth" | "signature" | "sig" | "sid" | "phpsessid" | "jsessionid" | "sessionid" => some("credential", Proof::Long),
        _ if ends(FLAT_PASSWORDS) => some("password", Proof::Password),
        _ if ends(FLAT_KEYS) => some("api_key", Proof::Random),
        _ if ends(FLAT_TOKENS) => some("token", Proof::Random),
        _ if word.len() > 6 && word.ends_with("secret") => some("secret", Proof::Random),
        _ => None,
    }
}

/// The words of a name, lower case: `dbPassword`, `DB_PASSWORD`, `db-password` and `db.password` are `db password`.
struct Words {
    text: String,
}

impl Words {
    fn of(name: &[u8]) -> Self {
        let mut text = String::with_capacity(name.len() + 8);
        for (at, &byte) in name.iter().enumerate() {
            if !byte.is_ascii_alphanumeric() {
                text.push(' ');
                continue;
            }
            let before = at.checked_sub(1).map_or(b' ', |before| name[before]);
            let after = name.get(at + 1).copied().unwrap_or(b' ');
            let begins = byte.is_ascii_uppercase()
                && (before.is_ascii_lowercase() || (before.is_ascii_uppercase() && after.is_ascii_lowercase()));
            if begins {
                text.push(' ');
            }
            text.push(char::from(byte.to_ascii_lowercase()));
        }
        Self { text }
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text.split_ascii_whitespace()
    }

    fn len(&self) -> usize {
        self.iter().count()
    }

    /// The last word that is no number.
    fn last(&self) -> Option<&str> {
        self.iter().rev().find(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_in_every_case() {
        for name in [
            "password", "DB_PASSWORD", "dbPassword", "spring.datasource.password", "api_key", "apiKey", "API-KEY", "x-api-key",
            "clientSecret", "SECRET_KEY_BASE", "aws_secret_access_key", "accessToken", "GITHUB_TOKEN", "OPENAI_API_KEY_PROD",
            "openai_key", "_authToken", "mysqlRootPassword", "privateKey", "AUTHTOKEN", "csrf_token", "requirepass", "PGPASSWORD",
            "password2", "SharedAccessKey", "AccountKey", "refresh_token", "webhook_secret", "DB_PASS", "ENCRYPTION_KEY",
        ] {
            assert!(named(name.as_bytes()).is_some(), "{name}");
        }
    }

    #[test]
    fn names_of_other_things() {
        for name in [
            "max_tokens", "tokens", "secret_name", "password_hash", "token_type", "public_key", "primary_key", "cache_key", "key",
            "keyboard", "tokenizer", "next_page_token", "passed", "compass", "secretary", "author", "authorName", "private_key_path",
            "TOKEN_FILE", "passwordPolicy", "key_id", "foreignKey", "design_token", "hotkey", "monkey", "password-length",
        ] {
            assert_eq!(named(name.as_bytes()), None, "{name}");
        }
    }
}
