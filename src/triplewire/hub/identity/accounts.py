"""Accounts: who may use a service, and as what (P8).

An account is a token, of which only a hash is kept, or an Ed25519 public key, whose owner proves to have the private
one. Accounts are in the settings of the service's own store, so that every process of the service knows them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Literal, get_args

from triplewire.errors import BadRequest, NotAuthenticated, ServiceError
from triplewire.hub.settings import MAIN, Settings, refuse_bad_name
from triplewire.store import Store

Role = Literal["reader", "publisher", "admin"]
"""What an account may do; each may do what those before it may."""

ROLES: tuple[Role, ...] = get_args(Role)
_SETTING = "hub.accounts"
_PREFIX = "tw"
_REFUSED = "this token is not valid: it is misspelled, or was revoked; ask the operator of this hub for one"


@dataclass(frozen=True, slots=True)
class Account:
    """An account, known by the hash of a token's secret, or by a public key (one of the two is empty)."""

    id: str
    name: str
    role: Role
    tenant: str
    created: str
    secret_hash: str = ""
    public_key: str = ""

    def may(self, role: Role) -> bool:
        """Whether it may do what this role may."""
        return ROLES.index(self.role) >= ROLES.index(role)

    @property
    def standing(self) -> str:
        """Its role in a sentence: a reader, a publisher, an admin."""
        return f"{'an' if self.role == 'admin' else 'a'} {self.role}"

    def public(self) -> dict[str, Any]:
        """The account without the hash of its secret."""
        return {name: value for name, value in asdict(self).items() if name != "secret_hash"}


class Accounts:
    """The accounts in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> dict[str, Account]:
        """By id."""
        with self._store.reading() as reader:
            return _accounts(reader.settings.get(_SETTING, {}))

    def with_key(self, public_key: str, tenant: str) -> list[str]:
        """The ids of the accounts of a tenant that have this public key, as they are now."""
        own = [account for account in self.all().values() if account.tenant == tenant and account.public_key]
        return [account.id for account in own if account.public_key == public_key]

    def create_token(self, name: str, *, role: Role, tenant: str = MAIN) -> tuple[Account, str]:
        """A new account and its token, which nobody can find out later."""
        secret = secrets.token_urlsafe(32)
        account = _new(name, role, tenant, secret_hash=_hash(secret))
        self._add(account)
        return account, f"{_PREFIX}_{account.id}_{secret}"

    def add_key(self, name: str, public_key: str, *, role: Role, tenant: str = MAIN) -> Account:
        """A new account that is proved by the private key to an Ed25519 public key (32 bytes in hexadecimal)."""
        try:
            is_key = len(bytes.fromhex(public_key)) == 32
        except ValueError:
            is_key = False
        if not is_key:
            raise BadRequest("an Ed25519 public key is 32 bytes, written as 64 hexadecimal digits")
        account = _new(name, role, tenant, public_key=public_key.lower())
        self._add(account)
        return account

    def revoke(self, id: str) -> Account:
        """Away with an account, and with all that is sent on its behalf; what it published stays."""
        with self._changing() as known:
            _refuse_unknown(id, known)
            return Account(**known.pop(id))

    def set_role(self, id: str, role: Role) -> Account:
        """Let an account have another role."""
        _refuse_bad_role(role)
        with self._changing() as known:
            _refuse_unknown(id, known)
            known[id] = {**known[id], "role": role}
            return Account(**known[id])

    def roles(self, tenant: str) -> dict[str, bool] | None:
        """The accounts of a tenant by id, and whether each is an admin; None if there never was an account."""
        with self._store.reading() as reader:
            stored = reader.settings.get(_SETTING)
        return None if stored is None else roles_in(_accounts(stored), tenant)

    def _add(self, account: Account) -> None:
        with self._changing() as known:
            known[account.id] = asdict(account)

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """The accounts as they are stored, to be changed: all of it is written, or nothing."""
        with self._store.writing() as writer:
            known = dict(writer.settings.get(_SETTING, {}))
            yield known
            writer.settings.set(_SETTING, known)


def roles_in(accounts: Mapping[str, Account], tenant: str) -> dict[str, bool]:
    """The accounts of a tenant by id, and whether each is an admin."""
    return {id: account.may("admin") for id, account in accounts.items() if account.tenant == tenant}


def tenants_of(settings: Settings, accounts: Accounts) -> set[str]:
    """The tenants that there are: those that the settings name, and those that accounts belong to."""
    return {MAIN, *settings.tenants, *(account.tenant for account in accounts.all().values())}


def account_of_token(token: str, accounts: Mapping[str, Account]) -> Account:
    """Whose token it is; NotAuthenticated for one that is nobody's."""
    prefix, _, rest = token.partition("_")
    id, _, secret = rest.partition("_")
    account = accounts.get(id)
    kept = account.secret_hash if account is not None else ""
    is_right = compare_digest(_hash(secret), kept or _hash(""))  # compared in any case: the time tells nothing
    if prefix != _PREFIX or account is None or not kept or not is_right:
        raise NotAuthenticated(_REFUSED)
    return account


def _hash(secret: str) -> str:
    """Of a secret with 256 random bits, for which a slow hash would add nothing."""
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _refuse_unknown(id: str, known: Mapping[str, Any]) -> None:
    if id not in known:
        raise ServiceError(f"there is no account {id!r}")


def _refuse_bad_role(role: str) -> None:
    if role not in ROLES:
        raise ServiceError(f"there is no role {role!r}; there are: {', '.join(ROLES)}")


def _new(name: str, role: Role, tenant: str, **proof: str) -> Account:
    _refuse_bad_role(role)
    refuse_bad_name(tenant)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Account(secrets.token_hex(6), name, role, tenant, now, **proof)


def _accounts(stored: Mapping[str, Any]) -> dict[str, Account]:
    return {id: Account(**fields) for id, fields in stored.items()}
