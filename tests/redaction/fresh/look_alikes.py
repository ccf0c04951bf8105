"""References, checksums and identifiers; fixed texts are in ``look_alikes.toml``."""

from __future__ import annotations

from redaction.draw import BASE64, HEX, LOWER, UPPER

from .kinds import FRESH

drawn = FRESH.drawn

# References: the secret is elsewhere.
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
