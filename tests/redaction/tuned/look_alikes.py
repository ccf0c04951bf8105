"""Random values that look like secrets and are not; fixed texts are in ``look_alikes.toml``."""

from __future__ import annotations

from redaction.draw import BASE64, HEX

from .kinds import TUNED

drawn = TUNED.drawn

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
