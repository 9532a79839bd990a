"""A provider of OpenID Connect: what it says of itself, its keys, and who it says has signed in.

Only the code flow with PKCE is spoken. A token is believed if a key of the provider has signed it by a public-key
algorithm, and if it was made by this provider, for this server, now, and for this very sign-in.
"""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from ordito.server.identity.claims import LONGEST_SUBJECT, Claims
from ordito.server.outgoing.egress import port_of, split_url
from ordito.server.outgoing.posting import PostFailed, asked
from ordito.server.problems import ApiProblem
from ordito.server.settings import Oidc
from ordito.source.egress import PRIVATE, bracketed

if TYPE_CHECKING:
    from joserfc.jwk import Key

SKEW = 60.0
"""Seconds by which the clocks of the provider and of this machine may differ."""

KEPT_FOR = 3600.0
"""Seconds after which the provider is asked again what it says of itself."""

MOST_BYTES = 1 << 20
LEAST_RSA_BITS = 2_048
KINDS: Mapping[str, str] = {"RS256": "RSA", "ES256": "EC", "EdDSA": "OKP", "Ed25519": "OKP"}
"""The algorithms that are taken, and the kind of key of each. None of them is verified with a secret that both know, so
no public key can pass for one."""

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
WELL_KNOWN = "/.well-known/openid-configuration"


class ProviderMetadata(msgspec.Struct, frozen=True):
    """What a provider says of itself (OpenID Connect Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    end_session_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class _Tokens(msgspec.Struct, frozen=True):
    """The answer to a code."""

    id_token: str
    access_token: str = ""


class _Keys(msgspec.Struct, frozen=True):
    keys: tuple[dict[str, Any], ...]


class SentAway(msgspec.Struct, frozen=True):
    """A browser that was sent to the provider: what must come back with it."""

    nonce: str
    verifier: str
    after: str
    """The page that is shown when it has come back."""


class OidcProvider:
    """The provider that the settings name. Its methods wait for it, so they are called in threads."""

    def __init__(
        self, oidc: Oidc, egress: Callable[[], Collection[str]], clock: Callable[[], float] = time.time
    ) -> None:
        self.settings = oidc
        self._egress = egress
        self._clock = clock
        self._lock = threading.Lock()
        self._about: tuple[float, ProviderMetadata] | None = None
        self._keys: tuple[float, tuple[dict[str, Any], ...]] | None = None

    def address(self, redirect: str, state: str, sent: SentAway) -> str:
        """Where a browser signs in, and from where it comes back to ``redirect`` with a code. Raises ``ApiProblem``."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(sent.verifier.encode()).digest()).decode().rstrip("=")
        return _with(
            self._of_itself().authorization_endpoint,
            response_type="code",
            client_id=self.settings.client_id,
            redirect_uri=redirect,
            scope=" ".join(dict.fromkeys(("openid", *self.settings.scopes))),
            state=state,
            nonce=sent.nonce,
            code_challenge=challenge,
            code_challenge_method="S256",
        )

    def farewell(self, after: str) -> str:
        """Where a browser signs out of the provider too, from where it comes back to ``after``; "" where it cannot.
        Raises ``ApiProblem``."""
        end = self._of_itself().end_session_endpoint
        return _with(end, client_id=self.settings.client_id, post_logout_redirect_uri=after) if end else ""

    def check_sender(self, issuer: str) -> None:
        """Refuse what comes back from another provider than the one that was meant (RFC 9207). Raises
        ``ApiProblem``."""
        if issuer != self.settings.issuer and (
            issuer or self._of_itself().authorization_response_iss_parameter_supported
        ):
            raise _refused("the answer is not from the provider that was asked")

    def claims(self, code: str, redirect: str, sent: SentAway) -> Claims:
        """What the provider says of who has come back with a code. Raises ``ApiProblem``."""
        tokens = self._exchanged(code, redirect, sent.verifier)
        found = self._verified(tokens.id_token, sent.nonce)
        wanted = {self.settings.name_claim, self.settings.groups_claim} - {""}
        more = self._of_itself().userinfo_endpoint
        if wanted <= found.keys() or not more or not tokens.access_token:
            return found
        headers = {"Authorization": f"Bearer {tokens.access_token}", "Accept": "application/json"}
        said = self._decoded("GET", more, dict[str, Any], headers=headers)
        if said.get("sub") != found["sub"]:
            raise _refused("its two answers are about different people")
        return {**said, **found}

    def _exchanged(self, code: str, redirect: str, verifier: str) -> _Tokens:
        about, oidc = self._of_itself(), self.settings
        fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect, "code_verifier": verifier}
        headers = dict(FORM)
        if oidc.client_secret and "client_secret_basic" in about.token_endpoint_auth_methods_supported:
            # Both parts are encoded before they are joined (RFC 6749, section 2.3.1).
            both = f"{quote(oidc.client_id, safe='')}:{quote(oidc.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(both.encode()).decode()}"
        else:
            fields["client_id"] = oidc.client_id
            if oidc.client_secret:
                fields["client_secret"] = oidc.client_secret
        found: _Tokens = self._decoded("POST", about.token_endpoint, _Tokens, urlencode(fields).encode(), headers)
        return found

    def _verified(self, token: str, nonce: str) -> Claims:
        from joserfc.errors import JoseError
        from joserfc.jws import extract_compact

        try:
            header = extract_compact(token.encode()).headers()
        except (JoseError, ValueError) as error:
            raise _refused("its token cannot be read") from error
        algorithm, name = header.get("alg"), header.get("kid")
        if algorithm not in KINDS:
            raise _refused(f"its token is signed by {str(algorithm)[:20]!r}: only {', '.join(KINDS)} are taken")
        found = self._signed(token, str(algorithm), name, self._published(anew=False))
        if found is None:
            # It may have begun with another key since it was asked.
            found = self._signed(token, str(algorithm), name, self._published(anew=True))
        if found is None:
            raise _refused("its token is not signed by one of its keys")
        self._check(found, nonce)
        return found

    def _signed(self, token: str, algorithm: str, name: object, keys: Collection[dict[str, Any]]) -> Claims | None:
        """The claims of a token, None where none of the keys has signed it."""
        from joserfc import jwt
        from joserfc.errors import JoseError

        for key in _fitting(keys, algorithm, name):
            try:
                return jwt.decode(token, key, algorithms=[algorithm]).claims
            except (JoseError, ValueError):
                continue
        return None

    def _check(self, claims: Claims, nonce: str) -> None:
        """Refuse a token that is not for this sign-in (OpenID Connect Core 1.0, section 3.1.3.7). Raises
        ``ApiProblem``."""
        oidc, now = self.settings, self._clock()
        meant = claims.get("aud")
        audience = meant if isinstance(meant, list) else [meant]
        begins, ends, made = (_time(claims.get(name)) for name in ("nbf", "exp", "iat"))
        subject = claims.get("sub")
        wrong = ""
        if claims.get("iss") != oidc.issuer:
            wrong = "its token names another issuer"
        elif oidc.client_id not in audience:
            wrong = "its token is for another client"
        elif claims.get("azp", oidc.client_id) != oidc.client_id or (len(audience) > 1 and "azp" not in claims):
            wrong = "its token was given to another client"
        elif claims.get("nonce") != nonce:
            wrong = "its token is for another sign-in"
        elif ends is None or made is None or (begins is None and "nbf" in claims):
            wrong = "its token does not say when it is valid"
        elif ends <= now - SKEW:
            wrong = "its token is over"
        elif made > now + SKEW or (begins is not None and begins > now + SKEW):
            wrong = "its token is not valid yet; are the clocks of both machines right?"
        elif not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT:
            wrong = "its token does not say whose it is"
        if wrong:
            raise _refused(wrong)

    def _of_itself(self) -> ProviderMetadata:
        with self._lock:
            if self._about is None or self._clock() - self._about[0] > KEPT_FOR:
                found = self._decoded("GET", self.settings.issuer.rstrip("/") + WELL_KNOWN, ProviderMetadata)
                if found.issuer != self.settings.issuer:
                    hint = f'an administrator writes `issuer: "{found.issuer[:200]}"` in server.yaml, if that is meant'
                    raise _refused(f"it calls itself {found.issuer[:200]}, and not {self.settings.issuer}", hint)
                self._about = self._clock(), found
            return self._about[1]

    def _published(self, *, anew: bool) -> tuple[dict[str, Any], ...]:
        """The keys that it publishes."""
        address = self._of_itself().jwks_uri
        with self._lock:
            if anew or self._keys is None or self._clock() - self._keys[0] > KEPT_FOR:
                self._keys = self._clock(), self._decoded("GET", address, _Keys).keys
            return self._keys[1]

    def _decoded(
        self, method: str, url: str, kind: Any, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """What it answers, as a type. Raises ``ApiProblem``."""
        own = split_url(self.settings.issuer, ("https", "http"))
        # Only a provider on this machine may be asked without TLS, and for nothing elsewhere.
        split_url(url, ("https",) if own.scheme == "https" else ("http", "https"))
        permitted = (*self._egress(), f"{bracketed(own.hostname or '')}:{port_of(own)}{PRIVATE}")
        name = urlsplit(url).path
        try:
            sent = headers or {"Accept": "application/json"}
            status, answer = asked(method, url, body, sent, permitted, most=MOST_BYTES + 1)
        except PostFailed as error:
            hint = "try again in a while; an administrator sees in the log of the server why, if it goes on"
            raise ApiProblem("oidc-away", error.message, hint, again_in=5) from error
        if 400 <= status < 500 and method == "POST":
            raise _refused(f"it answers {status} to the code: it may be used up, or the client is not known so")
        if status != 200:
            hint = "try again in a while; an administrator may look at the provider's log"
            raise ApiProblem("oidc-away", f"the provider answers {status} at {name}", hint, again_in=5)
        try:
            if len(answer) > MOST_BYTES:
                raise ValueError(f"it is longer than {MOST_BYTES} bytes")
            return msgspec.json.decode(answer, type=kind)
        except (msgspec.DecodeError, ValueError) as error:
            # Of what does not fit only the place is told: the answer may hold tokens.
            raise _refused(f"its answer at {name} is not as it must be: {error}") from None


def _fitting(keys: Collection[dict[str, Any]], algorithm: str, name: object) -> Iterator[Key]:
    """The keys that may have signed a token, by its algorithm and the name of the key in its head."""
    from joserfc import jwk
    from joserfc.errors import JoseError

    for plain in keys:
        fits = plain.get("kty") == KINDS[algorithm] and plain.get("use", "sig") == "sig"
        if not fits or plain.get("alg", algorithm) != algorithm or (name is not None and plain.get("kid") != name):
            continue
        try:
            key = jwk.import_key(plain, KINDS[algorithm])  # type: ignore[call-overload]
            if KINDS[algorithm] == "RSA" and key.raw_value.key_size < LEAST_RSA_BITS:
                continue
        except (JoseError, ValueError, KeyError, TypeError):
            continue
        yield key


def _time(value: object) -> float | None:
    """A time of a token, None for what is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _refused(why: str, hint: str = "") -> ApiProblem:
    usual = "sign in again; if it stays so, an administrator looks at `oidc` in server.yaml and at the provider's log"
    return ApiProblem("oidc-refused", f"the provider's word does not hold: {why}", hint or usual)


def _with(url: str, **fields: str) -> str:
    """A URL of the provider with more in its query."""
    return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(fields)}"
