//! Passwords as programs and languages take them by position: `sshpass -p`, `curl -u`, `IDENTIFIED BY`.

use super::rule::{Judge, Rule};
use super::span::Rank;
use super::value::Proof;

const fn rule(kind: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { kind, anchors, pattern, back: 0, judge: Judge::Named(Proof::Password), rank: Rank::Structure }
}

const fn long(kind: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { kind, anchors, pattern, back: 0, judge: Judge::Named(Proof::Random), rank: Rank::Structure }
}

/// A value at the end of each pattern: quoted, or up to the next blank.
pub(super) const COMMANDS: &[Rule] = &[
    rule("password", &["sshpass"], r#"sshpass\s{1,4}-p\s{0,4}["']?([^\s"']{4,})"#),
    rule(
        "basic_auth",
        &["curl ", "http ", "https ", "wget ", "xh "],
        r#"(?:curl|https?|wget|xh)\s[^|;]{0,400}?(?:-u|--user|-U|--proxy-user|-a|--auth)[ =]["']?[^\s:"']{1,80}:([^\s"']{4,})"#,
    ),
    rule(
        "password",
        &["mysql", "mariadb"],
        r#"(?:mysql|mariadb)(?:dump|admin|import|-dump|-admin)?(?:\s[^\n|;]{0,200}?)?\s-p["']?([^\s"']{4,})"#,
    ),
    rule("password", &["redis-cli"], r#"redis-cli\s[^\n|]{0,120}?-a\s{1,2}["']?([^\s"']{4,})"#),
    rule(
        "password",
        &[
            "mongo",
            "mongosh",
            "mongodump",
            "docker login",
            "podman login",
            "az login",
            "helm registry login",
            "psql-login",
            "oc login",
            "cqlsh",
            "influx",
            "clickhouse-client",
            "rabbitmqadmin",
            "smbclient",
            "xfreerdp",
            "sqlcmd",
            "bcp ",
            "unzip",
            "zip ",
            "7z ",
            "7za ",
            "ldapsearch",
            "ldapadd",
            "ldapmodify",
            "ldapwhoami",
            "plink",
            "pscp",
            "keytool",
            "hydra",
            "rdesktop",
            "psexec",
            "PSEXEC",
            "PsExec",
        ],
        r#"[A-Za-z0-9-]{2,20}\s[^\n|]{0,240}?\s(?:-p|-P|-w|-pw|/p:|-storepass|-keypass)[ =]?["']?([^\s"'-][^\s"']{3,})"#,
    ),
    rule("password", &["-passin", "-passout", "pass:"], r#"(?:-passin|-passout)?\s{0,2}pass:["']?([^\s"']{4,})"#),
    rule("password", &["lftp "], r#"lftp\s[^\n]{0,80}?-u\s{0,2}["']?[^\s,]{1,60},([^\s"']{4,})"#),
    rule(
        "password",
        &["smbclient", "net use", "rpcclient", "mount "],
        r#"(?:smbclient|net use|rpcclient|mount)\s[^\n]{0,160}?(?:-U\s{0,2}["']?[^\s%"']{1,60}%|/user:\S{1,60}\s{1,2})["']?([^\s"']{4,})"#,
    ),
    rule("password", &["net user "], r#"net user\s{1,2}[^\s/]{1,40}\s{1,2}["']?([^\s"'/*][^\s"']{3,})"#),
    rule("password", &["cmdkey "], r#"cmdkey\s[^\n]{0,160}?/pass:["']?([^\s"']{4,})"#),
    rule("password", &["snmp"], r#"snmp[a-z]{3,12}\s[^\n|]{0,200}?\s-A\s{1,2}["']?([^\s"'-][^\s"']{3,})"#),
    rule("password", &["snmp"], r#"snmp[a-z]{3,12}\s[^\n|]{0,200}?\s-X\s{1,2}["']?([^\s"'-][^\s"']{3,})"#),
    rule("password", &["jdbc:oracle:"], r#"jdbc:oracle:[a-z0-9]{2,6}:[A-Za-z0-9_]{1,40}/([^\s"'@]{4,})@"#),
    rule(
        "password",
        &["getConnection(", "PDO(", "mysqli(", "mysqli_connect(", "ldap_bind(", "ftp_login(", "imap_open("],
        r#"[A-Za-z_]{3,20}\(\s{0,8}[^,\n]{1,160},\s{0,8}["'][^"'\n]{0,80}["']\s{0,2},\s{0,8}["']([^"'\n]{4,})["']"#,
    ),
    rule(
        "password",
        &["set password for"],
        r#"(?i)set\s{1,2}password\s{1,2}for\s{1,2}[^=;\n]{1,80}=\s{0,2}(?:password\s{0,2}\(\s{0,2})?["']([^"'\n]{4,})"#,
    ),
    rule(
        "password",
        &["htpasswd"],
        r#"htpasswd\s{1,2}-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}\s{1,2}\S{1,200}\s{1,2}\S{1,80}\s{1,2}["']?([^\s"']{4,})"#,
    ),
    rule(
        "password",
        &["sqlplus", "expdp", "impdp", "rman "],
        r#"(?:sqlplus|expdp|impdp|rman)\s[^\n]{0,80}?["']?[A-Za-z0-9_]{1,40}/["']?([^\s"'@]{4,})["']?@"#,
    ),
    rule(
        "password",
        &["identified by", "identified with"],
        r#"(?i)identified\s{1,4}(?:by|with\s{1,2}\S{1,40}\s{1,2}by)\s{1,4}(?:password\s{1,2})?["']?([^\s"';]{4,})"#,
    ),
    rule(
        "password",
        &["echo ", "printf "],
        r#"(?:echo|printf)\s{1,4}(?:-n\s{1,4})?["']?([^\s"'|]{4,})["']?\s{0,4}\|\s{0,4}(?:sudo\s{1,2}-S|su\s|docker\s{1,2}login|passwd|cryptsetup|gpg|kinit|podman\s{1,2}login|gh\s{1,2}auth|helm\s)"#,
    ),
    rule(
        "password",
        &["echo ", "printf "],
        r#"(?:echo|printf)\s{1,4}(?:-n\s{1,4})?["']?[A-Za-z0-9_-]{1,40}:([^\s"'|]{4,})["']?\s{0,4}\|\s{0,4}(?:sudo\s{1,2})?chpasswd"#,
    ),
    long("secret", &["--from-literal"], r#"--from-literal[ =]["']?[A-Za-z0-9_.-]{1,80}=["']?([^\s"']{4,})"#),
    rule("password", &["wpa_passphrase"], r#"wpa_passphrase\s{1,2}\S{1,60}\s{1,2}["']?([^\s"']{8,})"#),
    rule("password", &["WIFI:"], r"WIFI:[^\n]{0,120}?;?P:([^;\n]{4,})"),
    long(
        "credential",
        &["mc alias set", "mc config host add"],
        r#"mc\s(?:alias\sset|config\shost\sadd)\s{1,2}\S{1,60}\s{1,2}\S{1,200}\s{1,2}\S{1,80}\s{1,2}["']?([^\s"']{8,})"#,
    ),
    long(
        "token",
        &["vault login", "glab auth", "vault token", "vault operator unseal"],
        r#"(?:vault|glab)\s(?:login|auth|token|operator\sunseal)\s{1,2}(?:[a-z-]{1,20}[ =]){0,3}["']?([A-Za-z0-9._+/=-]{16,})"#,
    ),
    rule(
        "basic_auth",
        &[
            "HTTPBasicAuth",
            "BasicAuth(",
            "NetworkCredential",
            "UsernamePasswordCredentials",
            "AWSCredentials",
            "HTTPDigestAuth",
            "PasswordAuthentication",
            "UsernamePassword",
            "auth=(",
            "auth = (",
            ".login(",
            "SetBasicAuth",
        ],
        r#"[A-Za-z.]{4,40}(?:[Aa]uth|Credentials?|login|Authentication|Password)?\s{0,2}=?\s{0,2}\(\s{0,2}["'][^"'\n]{1,80}["']\s{0,2},\s{0,2}["']([^"'\n]{4,})["']"#,
    ),
    long(
        "password",
        &["ConvertTo-SecureString"],
        r#"(?i)ConvertTo-SecureString\s{1,2}(?:-String\s{1,2})?["']?([^\s"']{6,})"#,
    ),
    rule("password", &["user:"], r#"(?i)user:[A-Za-z0-9_.@-]{1,60}[ ,;]{1,3}pass:([^\s,;"']{4,})"#),
    long("credential", &["\"auth\""], r#""auth"\s{0,4}:\s{0,4}"([A-Za-z0-9+/=]{12,})""#),
    long(
        "token",
        &["_authToken", "_auth", "_password"],
        r#"_(?:authToken|auth|password)\s{0,4}[= ]\s{0,4}["']?([^\s"']{8,})"#,
    ),
    long("otp_secret", &["otpauth://"], r"otpauth://[^\s]{0,200}?secret=([A-Za-z2-7=]{12,})"),
    long(
        "url_signature",
        &[
            "?sig=",
            "&sig=",
            "&Signature=",
            "?Signature=",
            "X-Amz-Signature=",
            "X-Goog-Signature=",
            "X-Amz-Security-Token=",
            "&amp;sig=",
        ],
        r"(?i)(?:\?|&|&amp;|x-amz-|x-goog-)?(?:sig|signature|security-token)=([A-Za-z0-9%+/=_~-]{16,})",
    ),
    long(
        "url_key",
        &[
            "?key=", "&key=", "?k=", "?code=", "&code=", "?auth=", "&auth=", "?apikey=", "?appid=", "&appid=", "?sid=",
            "?pwd=",
        ],
        r"(?i)[?&](?:key|k|code|auth|apikey|appid|sid|pwd)=([A-Za-z0-9%+/=_~.-]{16,})",
    ),
    long("authorization", &["SSWS "], r"SSWS ([A-Za-z0-9_-]{20,})"),
    long(
        "private_key",
        &["PrivateKey", "PresharedKey"],
        r"(?:PrivateKey|PresharedKey)\s{0,4}=\s{0,4}([A-Za-z0-9+/]{42,44}=?)",
    ),
];
