"""Install the hosts into a folder: ``python -m real_hosts.install FOLDER``, which `make hosts` does.

Each is one package of npm that runs as it is, so none of npm's scripts run and nothing is installed beside the folder.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SYSTEMS = {"Linux": ("linux", "unknown-linux-musl"), "Darwin": ("darwin", "apple-darwin")}
MACHINES = {
    "x86_64": ("x64", "x86_64"),
    "aarch64": ("arm64", "aarch64"),
    "arm64": ("arm64", "aarch64"),
}
SYSTEM, TRIPLE = SYSTEMS.get(platform.system(), ("", ""))
MACHINE, PROCESSOR = MACHINES.get(platform.machine(), ("", ""))
PACKAGES = {
    "claude-code": f"@anthropic-ai/claude-code-{SYSTEM}-{MACHINE}@2.1.326",
    "codex": f"@openai/codex@0.166.0-{SYSTEM}-{MACHINE}",
    "opencode": f"opencode-{SYSTEM}-{MACHINE}@1.18.33",
    "gemini": "@google/gemini-cli@0.61.0",
}
PROGRAMS = {
    "claude-code": "package/claude",
    "codex": f"package/vendor/{PROCESSOR}-{TRIPLE}/bin/codex",
    "opencode": "package/bin/opencode",
    "gemini": "package/bundle/gemini.js",
}


def program(folder: Path, host: str) -> Path:
    """Return the path of a host's program in the folder; it may not be there."""
    version = PACKAGES[host].rpartition("@")[2]
    return folder / f"{host}-{version}" / PROGRAMS[host]


def install(folder: Path, host: str) -> None:
    """Fetch a host and unpack it, unless that version is there."""
    found = program(folder, host)
    if found.exists():
        return
    target = found.relative_to(folder).parts[0]
    with tempfile.TemporaryDirectory(dir=folder) as work:
        command = ["npm", "pack", "--silent", "--ignore-scripts", PACKAGES[host]]
        subprocess.run(command, cwd=work, check=True, stdout=subprocess.DEVNULL)
        (packed,) = Path(work).glob("*.tgz")
        unpacked = Path(work) / "unpacked"
        with tarfile.open(packed) as archive:
            archive.extractall(unpacked, filter="data")
        packed.unlink()
        shutil.rmtree(folder / target, ignore_errors=True)
        unpacked.rename(folder / target)
    found.chmod(0o755)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    for host, package in PACKAGES.items():
        print(f"{host}: {package}", flush=True)
        try:
            install(folder, host)
        except (OSError, subprocess.CalledProcessError) as error:
            failed.append(f"{host} is not installed, and its tests are skipped: {error}")
    print(*failed, sep="\n")


if __name__ == "__main__":
    main()
