"""Identity: from the headers of a request to the account that it proves, and what this may do (P8).

Where identity is off, every client that reaches the service may do everything; that is for one person on one machine,
and `loopback` refuses all others.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import threading
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from triplewire.errors import BadRequest, NotAllowed, NotAuthenticated
from triplewire.hub.identity.accounts import Account, Accounts, Role, account_of_token, roles_in
from triplewire.hub.settings import MAIN
from triplewire.wire.keys import signed_text

EVERYBODY = Account("", "everybody on this machine", "admin", MAIN, "")
_KNOWN_FOR = 1.0
_CHALLENGE_LASTS = 60.0
_SESSION_LASTS = 3_600.0
_MOST_SESSIONS = 100
"""So many sessions an account may have at a time."""
_SESSION = "tws_"


@dataclass(frozen=True, slots=True)
class _Session:
    account: str
    until: float


class Gate:
    """Knows the account of each request. Changes that another process makes to the accounts count within a second."""

    def __init__(self, accounts: Accounts, *, is_on: bool) -> None:
        self.is_on = is_on
        self._accounts = accounts
        self._lock = threading.Lock()
        self._known: dict[str, Account] = {}
        self._looked = float("-inf")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="triplewire-identity")
        self._reading: Future[None] | None = None
        self._seal = secrets.token_bytes(32)
        self._used: dict[str, _Session] = {}
        self._sessions: dict[str, _Session] = {}

    def caller(self, headers: Mapping[str, str]) -> Account:
        """The account that the headers of a request prove; NotAuthenticated if they prove none."""
        if not self.is_on:
            return EVERYBODY
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise NotAuthenticated("this hub wants to know its callers: send the header Authorization: Bearer TOKEN")
        return self._owner_of(token.strip())

    def guest(self, public_key: str, *, account: str = "", token: str = "", role: Role = "reader") -> Account:
        """The account of an edge or a hub that has proved to have a key: that of its token, or the one with this key.

        NotAuthenticated if there is none, NotAllowed if it may not do what a `role` may. With an `account`, it must be
        that one.
        """
        if not self.is_on:
            return EVERYBODY
        if token:
            return _in_role(self._owner_of(token), role)
        own = [each for each in self._known.values() if each.public_key == public_key and account in ("", each.id)]
        if not own:
            raise NotAuthenticated(
                f"its key is that of no account here; to let it in, make one: `triplewire token create STORE NAME "
                f"--role {role} --public-key {public_key}`"
            )
        if len(own) > 1:
            raise NotAuthenticated("several accounts have its key; it must say which one it is")
        return _in_role(own[0], role)

    def _owner_of(self, token: str) -> Account:
        known = self._known
        if not token.startswith(_SESSION):
            return account_of_token(token, known)
        with self._lock:
            session = self._sessions.get(token)
            if session is not None and session.until < time.monotonic():
                del self._sessions[token]
                session = None
        account = known.get(session.account) if session is not None else None
        if account is None:
            raise NotAuthenticated("this session is over; ask for a new challenge, and sign it")
        return account

    async def catch_up(self) -> None:
        """Read the accounts again, if that is a second ago; all requests that wait share one reading."""
        if not self.is_on or time.monotonic() - self._looked <= _KNOWN_FOR:
            return
        if self._reading is None or self._reading.done():
            self._reading = self._thread.submit(self._read)
        await asyncio.shield(asyncio.wrap_future(self._reading))

    async def refresh(self) -> None:
        """Read the accounts again, as they are now; a reading that has begun does not count, one that is to begin does.

        So however many ask for it, one is under way and one waits.
        """
        if self._reading is None or self._reading.done() or self._reading.running():
            self._reading = self._thread.submit(self._read)
        await asyncio.shield(asyncio.wrap_future(self._reading))

    def _read(self) -> None:
        """In a thread, because a store may let it wait; in its own, because requests may hold all others."""
        began = time.monotonic()
        self._known, self._looked = self._accounts.all(), began

    def close(self) -> None:
        """Read no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def tenants(self) -> set[str]:
        """The tenants that accounts belong to, as far as is known since the last `refresh`."""
        return {account.tenant for account in self._known.values()}

    def roles(self, tenant: str) -> dict[str, bool]:
        """The accounts of a tenant and whether each is an admin, as far as is known since the last `refresh`."""
        return roles_in(self._known, tenant)

    def knows(self, account: Account) -> bool:
        """Whether it was not revoked or changed meanwhile, as far as is known since the last `refresh`."""
        return not self.is_on or self._known.get(account.id) == account

    def is_key_of_publisher(self, public_key: str, tenant: str) -> bool:
        """Whether an account of a tenant that may publish has this key; as far as is known since `refresh`."""
        own = [account for account in self._known.values() if account.tenant == tenant and account.may("publisher")]
        return any(account.public_key == public_key for account in own)

    def ids_of(self, names: Iterable[str], tenant: str) -> list[str]:
        """The accounts of a tenant that are meant, each by its id, or by a name that no other has; BadRequest if not.

        Where identity is off there are no accounts, and names are taken as they are.
        """
        if not self.is_on:
            return list(names)
        own = [account for account in self._known.values() if account.tenant == tenant]
        found = []
        for name in names:
            meant = [each.id for each in own if each.id == name] or [each.id for each in own if each.name == name]
            if len(meant) != 1:
                what = "no account has this id or name" if not meant else f"{len(meant)} accounts have this name"
                raise BadRequest(f"{name!r}: {what}; `triplewire token list` tells the ids")
            found += meant
        return found

    # -- key pairs

    def challenge(self, id: str) -> str:
        """Something to sign for the owner of an account's key; whether there is such an account is not told."""
        until = time.monotonic() + _CHALLENGE_LASTS
        return self._sealed(f"{urlsafe_b64encode(id.encode()).decode()}.{until:.3f}.{secrets.token_urlsafe(16)}")

    def _sealed(self, text: str) -> str:
        """A challenge has all that is known of it, and a seal: nothing is kept, so nobody can ask for too many."""
        return f"{text}/{hmac.new(self._seal, text.encode(), sha256).hexdigest()}"

    def _asked(self, challenge: str) -> _Session | None:
        """What `challenge` was asked for, and until when it counts; None for one that is not from here, or over."""
        text = challenge.rpartition("/")[0]
        if not hmac.compare_digest(self._sealed(text).encode(), challenge.encode()):
            return None
        name, until, nonce = text.split(".", 1)[0], *text.split(".", 1)[1].rsplit(".", 1)
        asked = _Session(urlsafe_b64decode(name).decode(), float(until))
        return asked if nonce and asked.until > time.monotonic() else None

    def open_session(self, challenge: str, signature: str) -> tuple[str, float]:
        """A token that is valid for so many seconds, for the account that signed a challenge; each counts once."""
        asked = self._asked(challenge)
        account = None if asked is None else self._known.get(asked.account)
        if asked is None or account is None or not account.public_key or challenge in self._used:
            raise NotAuthenticated("nobody waits for an answer to this challenge; ask for a new one")
        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(account.public_key))
            key.verify(bytes.fromhex(signature), signed_text(challenge))
        except InvalidSignature:
            raise NotAuthenticated("the signature is not that of the account's key") from None
        except ValueError:
            raise BadRequest("a signature is 64 bytes, written as 128 hexadecimal digits") from None
        return self._opened(challenge, asked), _SESSION_LASTS

    def _opened(self, challenge: str, asked: _Session) -> str:
        """A new session; of too many of one account the oldest ends. A challenge that was answered counts no more."""
        token, now = _SESSION + secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            if challenge in self._used:
                raise NotAuthenticated("this challenge was answered already; ask for a new one")
            self._used = {each: s for each, s in self._used.items() if s.until > now}
            self._sessions = {each: s for each, s in self._sessions.items() if s.until > now}
            if sum(s.account == asked.account for s in self._used.values()) >= _MOST_SESSIONS:
                raise NotAllowed(f"the account opened {_MOST_SESSIONS} sessions within a minute; use one of them")
            own = [each for each, s in self._sessions.items() if s.account == asked.account]
            for oldest in own[: max(0, len(own) - _MOST_SESSIONS + 1)]:
                del self._sessions[oldest]
            self._used[challenge] = asked
            self._sessions[token] = _Session(asked.account, now + _SESSION_LASTS)
        return token


def _in_role(account: Account, role: Role) -> Account:
    if not account.may(role):
        raise NotAllowed(f"this needs the role {role}, and {account.name} is {account.standing}")
    return account
