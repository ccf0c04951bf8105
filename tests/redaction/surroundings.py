"""Contexts of a token, which replaces `{}`; other braces are literal."""

from __future__ import annotations

PLAIN = [
    "The deploy failed again, I used {} and got a 401.",
    "export SERVICE_VALUE={}\nexport REGION=eu-west-1\n",
    '{"endpoint": "https://api.acme.dev/v2", "value": "{}", "retries": 3}',
    "2026-03-02T10:11:12Z WARN worker[812] rejected {} from 10.0.3.7",
    "client = Client('{}', timeout=30)\nclient.ping()",
    "$ ./run.sh --verbose {}\nrunning 12 jobs\n",
    "我把它设成 {} 了，你再试一下。",
    "設定値は{}です。確認してください。",
    "값은 {} 입니다. 다시 확인해 주세요.",
    "- name: worker\n  args:\n    - {}\n    - --fast\n",
    '"stdout": "line one\\n{}\\nline three"',
    "see `{}` in the vault",
]

HELD_OUT = [
    "ok so (…) {}, right? that's what support sent me",
    "<param>{}</param><param>7</param>",
    "curl 'https://api.acme.dev/check?x={}&y=2'",
    "| staging | {} | rotated |",
    "  value = '{}'  # rotate before Friday\n",
    "对，就是{}这个",
    "\x1b[32m{}\x1b[0m done in 3.1s",
    "Error: request with {}: forbidden\n    at Client.send (client.js:88:13)",
]

FRESH = [
    "tried it with {} and the job went through",
    "config:\n  endpoint: https://api.acme.dev\n  credential: {}\n",
    "[2026-03-02 10:11:12] DEBUG app: sending {} upstream",
    'fetch("/run", { body: "{}" })',
    "Ich habe {} eingetragen, geht aber nicht.",
    "J'ai mis {} dans la config.",
    "把{}填进去就行。",
    "これを使って：{}",
    "> {}\n> is what the console shows",
    "args = ['--fast', '{}']",
    "<value>{}</value>",
    "({})",
    "first line\r\n{}\r\nlast line",
    "\t{}\t# do not commit",
]
