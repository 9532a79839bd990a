"""The files of a host: the root that it has for its own, its users, and what its `sshd` and `sudo` read."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import msgspec

FOLDERS = ("etc", "home", "root", "tmp", "var/tmp", "var/lib", "var/log", "run/sshd", "run/lock", "opt", "srv", "mnt")
COPIED = ("ld.so.cache", "ld.so.conf", "os-release", "protocols", "services", "nsswitch.conf", "profile", "localtime")
SUDO = {
    "free": "{user} ALL=(ALL:ALL) NOPASSWD: ALL",
    "asks": "{user} ALL=(ALL:ALL) ALL",
}
SUDOERS = """\
Defaults env_reset, !lecture, secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
root ALL=(ALL:ALL) ALL
"""
PAM = """\
auth required pam_unix.so nodelay
account required pam_permit.so
session required pam_permit.so
"""
CONFIG = """\
ListenAddress {address}:{port}
HostKey {own}/host_key
AuthorizedKeysFile {own}/authorized_keys
PidFile none
UsePAM no
StrictModes no
UseDNS no
PrintMotd no
PrintLastLog no
PermitRootLogin yes
PasswordAuthentication {passwords}
KbdInteractiveAuthentication no
LogLevel VERBOSE
Subsystem sftp {sftp}
"""
AT_HOME = """\
SetEnv HOME={home}
ForceCommand cd "$HOME" && exec /bin/sh -c "${{SSH_ORIGINAL_COMMAND:-exec /bin/sh}}"
"""


class User(msgspec.Struct, frozen=True):
    """Who can log in: ``sudo`` is ``free`` (without a password), ``asks`` (with one) or nothing."""

    name: str
    password: str = ""
    sudo: str = ""

    @property
    def home(self) -> str:
        """The user's directory on a host with a root of its own."""
        return "/root" if self.name == "root" else f"/home/{self.name}"


def make_key(place: Path, comment: str = "") -> str:
    """Make a pair of keys without a passphrase; gives the public one in the words of `known_hosts`."""
    place.unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(place)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return " ".join(place.with_name(f"{place.name}.pub").read_text().split()[:2])


def make_root(root: Path, name: str, user: User) -> None:
    """Make the folders of a host and its users: root, and one more if it is another."""
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("tmp", "var/tmp"):
        (root / folder).chmod(0o1777)
    for copied in COPIED:
        if (source := Path("/etc") / copied).is_file():
            shutil.copy(source, root / "etc" / copied)
    (root / "etc/hostname").write_text(f"{name}\n")
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost {name}\n::1 localhost\n")
    _make_users(root, user)
    _make_sudo(root, user)


def _make_users(root: Path, user: User) -> None:
    etc = root / "etc"
    passwd = ["root:x:0:0:root:/root:/bin/bash", "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin"]
    passwd.append("sshd:x:101:65534::/run/sshd:/usr/sbin/nologin")
    group = ["root:x:0:", "tty:x:5:", "users:x:100:", "nogroup:x:65534:"]
    shadow = [f"{user.name}:{_hashed(user.password)}:19000:0:99999:7:::"]
    if user.name != "root":
        passwd.append(f"{user.name}:x:1000:1000::{user.home}:/bin/bash")
        group.append(f"{user.name}:x:1000:")
        shadow.append("root:*:19000:0:99999:7:::")
        home = Path(f"{root}{user.home}")
        home.mkdir(exist_ok=True)
        os.chown(home, 1000, 1000)
    (etc / "passwd").write_text("\n".join([*passwd, ""]))
    (etc / "group").write_text("\n".join([*group, ""]))
    (etc / "shadow").write_text("\n".join([*shadow, ""]))
    (etc / "shadow").chmod(0o600)


def _hashed(password: str) -> str:
    if not password:
        return "*"
    words = ["perl", "-e", "print crypt(<STDIN>, q($6$ordito$))"]
    return subprocess.run(words, input=password, capture_output=True, text=True, check=True).stdout


def _make_sudo(root: Path, user: User) -> None:
    etc = root / "etc"
    (etc / "pam.d").mkdir()
    for service in ("sudo", "sudo-i", "su", "other"):
        (etc / "pam.d" / service).write_text(PAM)
    granted = SUDO[user.sudo].format(user=user.name) + "\n" if user.sudo else ""
    (etc / "sudoers").write_text(SUDOERS + granted)
    (etc / "sudoers").chmod(0o440)


def sftp_server() -> str:
    """The program of Debian or that of other systems; `sshd` has one within, which knows no other HOME."""
    places = ("/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server")
    return next((place for place in places if Path(place).exists()), "internal-sftp")
