"""The vault: secrets that sign messages, kept so that a store alone, or a backup of it, gives none of them away.

A secret must be known to sign, so it is encrypted (Fernet: AES-128-CBC with HMAC-SHA256), with a key that is not in the
store: in the file that `secrets_key` names, or beside a store that is a file, where it is made when it is first needed.
For a store on a server there is no such place: without `secrets_key`, secrets are kept there as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from triplewire.errors import SecretLocked
from triplewire.store import DeliveryRecord, Store, sync_folder

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

VARIABLE = "TRIPLEWIRE_SECRETS_KEY"
_SEALED = "fernet:"
_SQLITE = "sqlite:///"
_PAGE = 1_000
_HOW = "make one with `triplewire deliver key FILE`, and give every process of the hub the same"


class Vault:
    """Seals and opens the secrets of one store."""

    def __init__(self, path: Path | None, *, makes: bool) -> None:
        """`path` has the key; with `makes` it is made if it is not there. Without a path, secrets stay as they are."""
        self._path, self._makes = path, makes
        self._fernet: Fernet | None = None

    @classmethod
    def of(cls, url: str, key_file: str | None = None) -> Vault:
        """That of a store; the key is in the file that is named, here or in the environment, or beside the store."""
        named = key_file or os.environ.get(VARIABLE)
        if named:
            return cls(Path(named), makes=False)
        file = url.removeprefix(_SQLITE)
        is_file = file not in (url, "", ":memory:")
        return cls(Path(f"{file}.secrets-key") if is_file else None, makes=True)

    def seal(self, secret: str) -> str:
        """The secret as it is kept."""
        if self._path is None or secret.startswith(_SEALED):
            return secret
        return _SEALED + self._key().encrypt(secret.encode()).decode()

    def open(self, kept: str) -> str:
        """The secret; SecretLocked if its key is not here. One from before there was a key is kept as it is."""
        if not kept.startswith(_SEALED):
            return kept
        from cryptography.fernet import InvalidToken

        if self._path is None:
            raise SecretLocked(f"the secret was encrypted, and there is no key: name its file with {VARIABLE}")
        try:
            return self._key(makes=False).decrypt(kept.removeprefix(_SEALED).encode()).decode()
        except InvalidToken:
            raise SecretLocked(
                f"the key in {self._path} is not the one that the secret was encrypted with; bring that one back, or "
                "give the delivery a new secret"
            ) from None

    def seal_all(self, store: Store) -> int:
        """Seal what was kept before there was a key; how many deliveries had something."""
        if self._path is None:
            return 0
        changed, after = 0, ""
        while True:
            with store.reading() as reader:
                page = reader.deliveries.listing(after, _PAGE)
            if not page:
                return changed
            after = page[-1].id
            for id in [record.id for record in page if self._sealed(record) != record]:
                with store.writing() as writer:
                    record = writer.deliveries.find(id)  # as it is now: another process may have changed it
                    if record is not None and self._sealed(record) != record:
                        writer.deliveries.put(self._sealed(record))
                        changed += 1

    def _sealed(self, record: DeliveryRecord) -> DeliveryRecord:
        secrets = [self._sealed_in(each) for each in record.secrets]
        settings = self._sealed_in(record.settings)
        if "pending" in settings:
            settings["pending"] = self._sealed_in(settings["pending"])
        is_same = secrets == list(record.secrets) and settings == dict(record.settings)
        return record if is_same else replace(record, secrets=secrets, settings=settings)

    def _sealed_in(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {**values} | ({"secret": self.seal(values["secret"])} if values.get("secret") else {})

    def _key(self, *, makes: bool = True) -> Fernet:
        if self._fernet is None:
            from cryptography.fernet import Fernet

            assert self._path is not None
            if makes and self._makes and not self._path.exists():
                make_key(self._path)
            try:
                self._fernet = Fernet(self._path.read_bytes().strip())
            except (OSError, ValueError) as error:
                raise SecretLocked(f"{self._path}: the key of secrets cannot be used: {error}; {_HOW}") from None
        return self._fernet


def make_key(path: Path) -> None:
    """A new key in a file, for its owner's eyes only; one that is there already, or comes meanwhile, stays."""
    from cryptography.fernet import Fernet

    draft = path.with_name(f"{path.name}.{uuid4().hex}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(Fernet.generate_key() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)  # whole or not at all, and never over another one
        sync_folder(path.parent)  # before anything is sealed with it
    except FileExistsError:
        pass
    finally:
        draft.unlink()
