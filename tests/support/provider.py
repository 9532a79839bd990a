"""A provider of OpenID Connect for tests: a process of its own on loopback, with real keys.

It signs everybody in who comes, as whom the test says, and remembers what it was asked. What it says wrongly is said
with ``PUT /said``: claims, the algorithm and the key of its tokens, what it knows of itself.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import urllib3
from joserfc import jws, jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey

CLIENT, SECRET = "ordito", "the secret: of the client"


class Provider:
    """The process, and what tests say to it."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.support.provider"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.issuer = self.process.stdout.readline().strip()
        self._pool = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(30))

    def settings(self, **more: object) -> str:
        """Settings of a server that knows it."""
        oidc = {"issuer": self.issuer, "client_id": CLIENT, "client_secret": SECRET, "groups_claim": "groups", **more}
        return f"oidc: {json.dumps(oidc)}\n"

    def say(self, **said: object) -> None:
        """From now on it says this: ``claims``, which go over the usual ones (null takes one away), ``alg``, ``key``,
        ``about``, ``status``; what is left out is as usual."""
        found = self._pool.request("PUT", f"{self.issuer}/said", body=json.dumps(said).encode())
        assert found.status == 204

    def rotate(self) -> None:
        """Sign with new keys, and publish these alone."""
        assert self._pool.request("PUT", f"{self.issuer}/rotated", body=b"").status == 204

    def asked(self) -> list[str]:
        """The paths at which it was asked, in order."""
        found: list[str] = self._pool.request("GET", f"{self.issuer}/asked").json()
        return found

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def __enter__(self) -> Provider:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class _State:
    def __init__(self) -> None:
        self.said: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []
        self.lock = threading.Lock()
        self.issuer = ""
        self.rotate()

    def rotate(self) -> None:
        number = secrets.token_hex(3)
        self.keys: dict[str, RSAKey | ECKey | OKPKey] = {
            "RS256": RSAKey.generate_key(2048, {"kid": f"rsa-{number}", "use": "sig"}),
            "ES256": ECKey.generate_key("P-256", {"kid": f"ec-{number}", "use": "sig"}),
            "EdDSA": OKPKey.generate_key("Ed25519", {"kid": f"ed-{number}", "use": "sig"}),
        }
        self.stranger = RSAKey.generate_key(2048, {"kid": f"rsa-{number}"})

    def published(self) -> dict[str, object]:
        return {"keys": [key.as_dict(private=False) for key in self.keys.values()]}

    def about(self) -> dict[str, object]:
        at = self.issuer
        usual = {
            "issuer": at,
            "authorization_endpoint": f"{at}/authorize",
            "token_endpoint": f"{at}/token",
            "jwks_uri": f"{at}/keys",
            "userinfo_endpoint": f"{at}/userinfo",
            "end_session_endpoint": f"{at}/logout",
            "code_challenge_methods_supported": ["S256"],
        }
        return {**usual, **self.said.get("about", {})}

    def claims(self, nonce: str) -> dict[str, object]:
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": CLIENT, "sub": "s-1", "exp": now + 300, "iat": now, "nonce": nonce}
        usual |= {"preferred_username": "ann", "groups": ["staff"]}
        both = {**usual, **self.said.get("claims", {})}
        return {name: value for name, value in both.items() if value is not None}

    def token(self, nonce: str) -> str:
        """A token of the kind that was said."""
        claims, algorithm = self.claims(nonce), self.said.get("alg", "RS256")
        key = self.keys.get(algorithm, self.keys["RS256"])
        header = {"alg": algorithm, "kid": self.said.get("kid", key.kid)}
        if algorithm in ("none", "HS256"):
            signed = ".".join(_encoded(json.dumps(one).encode()) for one in (header, claims))
            # The public key, taken as a secret that both know.
            known = self.keys["RS256"].as_pem(private=False)
            mark = hmac.digest(known, signed.encode(), "sha256") if algorithm == "HS256" else b""
            return f"{signed}.{_encoded(mark)}"
        signing = self.stranger if self.said.get("key") == "stranger" else key
        registry = jws.JWSRegistry(algorithms=[algorithm])
        token = jwt.encode(header, claims, signing, algorithms=[algorithm], registry=registry)
        return token[:-8] + "AAAAAAAA" if self.said.get("key") == "broken" else token


def _encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).decode().rstrip("=")


class _Handler(BaseHTTPRequestHandler):
    state: _State

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/asked":
            self._answer(200, self.state.asked)
            return
        self.state.asked.append(parts.path)
        if (status := self.state.said.get("status", 200)) != 200:
            self._answer(status, {})
        elif parts.path == "/.well-known/openid-configuration":
            self._answer(200, self.state.about())
        elif parts.path == "/keys":
            self._answer(200, self.state.published())
        elif parts.path == "/userinfo":
            self._answer(200, {"sub": "s-1", **self.state.said.get("userinfo", {})})
        elif parts.path == "/authorize":
            self._authorize({name: values[0] for name, values in parse_qs(parts.query).items()})
        else:
            self._answer(404, {})

    def _authorize(self, given: dict[str, str]) -> None:
        code = secrets.token_urlsafe(8)
        self.state.codes[code] = given
        back = {
            "state": given["state"],
            "session_state": "of no use here",
            **self.state.said.get("back", {"code": code}),
        }
        self.send_response(302)
        self.send_header("Location", f"{given['redirect_uri']}?{urlencode(back)}")
        self.end_headers()

    def do_POST(self) -> None:
        self.state.asked.append(self.path)
        given = {name: values[0] for name, values in parse_qs(self._body().decode()).items()}
        begun = self.state.codes.pop(given.get("code", ""), None)
        made = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = _encoded(made)
        kind, _, basic = self.headers.get("Authorization", "").partition(" ")
        sent = base64.b64decode(basic).decode().partition(":") if kind == "Basic" else ("", "", "")
        good = begun is not None and given["redirect_uri"] == begun["redirect_uri"]
        good = good and begun is not None and challenge == begun["code_challenge"]
        if not good or (unquote(sent[0]), unquote(sent[2])) != (CLIENT, SECRET) or begun is None:
            self._answer(400, {"error": "invalid_grant"})
            return
        nonce = self.state.said.get("nonce", begun["nonce"])
        self._answer(200, {"id_token": self.state.token(nonce), "access_token": "for userinfo", "token_type": "Bearer"})

    def do_PUT(self) -> None:
        body = self._body()
        if self.path == "/rotated":
            self.state.rotate()
        else:
            self.state.said = json.loads(body)
        self.send_response(204)
        self.end_headers()

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def _answer(self, status: int, data: object) -> None:
        text = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    """Serve until it is ended."""
    _Handler.state = _State()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    _Handler.state.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    print(_Handler.state.issuer, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
