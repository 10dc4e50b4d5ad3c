"""Git hosts for tests: bare repositories on this machine, and a daemon, a web server and an sshd on the loopback."""

from __future__ import annotations

import base64
import getpass
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from pathlib import Path
from typing import IO

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

__all__ = ["PLAIN", "bare_repository", "certified", "daemon", "git", "has_sshd", "ssh_host", "web_host"]

# What a person's machine may hold does not reach the repositories that tests make.
PLAIN = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.org",
    "GIT_COMMITTER_NAME": "Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.org",
    "LC_ALL": "C",
}


def git(repository: Path, *words: str, stdin: bytes = b"") -> str:
    """Run git on a repository as a person would, and return its output."""
    done = subprocess.run(
        ["git", f"--git-dir={repository}", *words], input=stdin, capture_output=True, env=PLAIN, check=True
    )
    return done.stdout.decode("utf-8", "replace").strip()


def bare_repository(path: Path) -> Path:
    """Make an empty bare repository."""
    git(path, "init", "--quiet", "--bare", str(path))
    return path


@contextmanager
def daemon(root: Path) -> Iterator[str]:
    """Serve the repositories below a directory on the loopback; yield the address to put before a name."""
    words = ["git", "daemon", "--reuseaddr", "--listen=127.0.0.1", "--export-all", "--enable=receive-pack"]
    for port in _ports():
        process = subprocess.Popen(
            [*words, "--verbose", f"--port={port}", f"--base-path={root}", str(root)],
            env=PLAIN,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stderr is not None
        if b"Ready to rumble" in process.stderr.readline():
            break
        process.wait()
    # What it says is read all the while: a full pipe would let it answer nobody any more.
    threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
    try:
        yield f"git://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


def _ports() -> Iterator[int]:
    """Yield ports that are free now, another one for each host: what just ended is asked by tests and must be gone."""
    for _ in range(100):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port: int = found.getsockname()[1]
        yield port


def _drain(said: IO[bytes]) -> None:
    with said:
        for _ in said:
            pass


_SSHD = "/usr/sbin/sshd"  # it starts itself again by this name, so it takes no other


def has_sshd() -> bool:
    """Tell whether an sshd can be started here: as root it wants a directory that its package makes."""
    programs = (_SSHD, shutil.which("ssh"), shutil.which("ssh-keygen"))
    return all(name and Path(name).is_file() for name in programs) and (os.geteuid() > 0 or Path("/run/sshd").is_dir())


@contextmanager
def ssh_host(folder: Path, *, passes_protocol: bool, keeps_line: bool = False) -> Iterator[tuple[str, str]]:
    """Run an sshd on the loopback that lets in whoever holds one key; yield the address to put before a path.

    The second is the value of GIT_SSH_COMMAND with which it is reached.

    Args:
        folder: where its keys and settings are written.
        passes_protocol: whether git there learns which protocol git here speaks. Most do not pass that on.
        keeps_line: whether ssh keeps its connection for the next talk.
    """
    folder.mkdir()
    for name in ("host", "client"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(folder / name)]
        subprocess.run(words, check=True, capture_output=True)
    settings = [f"HostKey {folder / 'host'}", f"AuthorizedKeysFile {folder / 'client.pub'}", "PidFile none"]
    settings += ["ListenAddress 127.0.0.1", "StrictModes no", "UsePAM no", "PasswordAuthentication no"]
    settings += ["KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password", "MaxStartups 100"]
    settings += ["AcceptEnv GIT_PROTOCOL"] if passes_protocol else []
    (folder / "sshd_config").write_text("\n".join([*settings, ""]))
    public = (folder / "host.pub").read_text()
    for port in _ports():
        process = subprocess.Popen(
            [_SSHD, "-D", "-e", "-f", str(folder / "sshd_config"), "-p", str(port)],
            env=PLAIN,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stderr is not None
        if b"Server listening" in process.stderr.readline():
            break
        process.wait()
    threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {public}")
    user, room = getpass.getuser(), Path(tempfile.mkdtemp())  # the path of a socket has to be short
    shared = f"-oControlMaster=auto -oControlPath={room / 'line'} -oControlPersist=60"
    known, key = f"-oUserKnownHostsFile={folder / 'known'}", f"-i{folder / 'client'}"
    try:
        yield (
            f"ssh://{user}@127.0.0.1:{port}",
            f"ssh -F/dev/null -oBatchMode=yes -oIdentitiesOnly=yes {known} {key} {shared if keeps_line else ''}",
        )
    finally:
        ends = ["ssh", "-F/dev/null", f"-oControlPath={room / 'line'}", "-O", "exit", f"{user}@127.0.0.1"]
        subprocess.run(ends, check=False, capture_output=True)
        process.terminate()
        process.wait()
        shutil.rmtree(room)


def certified(folder: Path) -> Path:
    """Return a file with a key and a certificate for 127.0.0.1 that is its own authority."""
    folder.mkdir()
    file = folder / "host.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file.write_bytes(made.public_bytes(pem) + key.private_bytes(pem, form, plain))
    return file


@contextmanager
def web_host(
    root: Path, login: str = "", certificate: Path | None = None, *, passes_protocol: bool = True
) -> Iterator[str]:
    """Serve the repositories below a directory over HTTP; yield the address to put before a name.

    Args:
        root: the directory.
        login: `name:password` that is asked for, if any.
        certificate: with its key, for TLS; without it plain HTTP is spoken.
        passes_protocol: whether git there learns which protocol git here speaks.
    """
    wanted = f"Basic {base64.b64encode(login.encode()).decode()}"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self._body()
            if login and self.headers.get("Authorization") != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="v"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            path, _, query = self.path.partition("?")
            done = subprocess.run(
                ["git", "http-backend"],
                input=body,
                capture_output=True,
                check=False,
                env={
                    **PLAIN,
                    "GIT_PROJECT_ROOT": str(root),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "REMOTE_USER": "somebody",
                    "REQUEST_METHOD": self.command,
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", "") if passes_protocol else "",
                },
            )
            head, _, answer = done.stdout.partition(b"\r\n\r\n")
            fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
            self.send_response(int(fields.pop("Status", "200").split()[0]))
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET  # noqa: N815

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", "0")))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http{'s' if certificate is not None else ''}://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
