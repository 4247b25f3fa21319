"""What a service is told when it starts: where it keeps things, where it listens, and what its limits are."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from triplewire.errors import ServiceError
from triplewire.hub.identity.loopback import host_of, is_loopback
from triplewire.outbound import Reach

MAIN = "main"
"""The tenant whose store is the service's own."""

PIPELINES = ("engine", "spark", "none")
AWAY = ("refuse", "queue")
NETWORKS = ("hypercube", "hierarchy")
_PREFIX = "TRIPLEWIRE_"
_OF_OTHERS = frozenset(["config", "token", "account", "key"])
"""Variables of the commands that use a hub."""
_TABLES = ("quotas", "tenants")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class TenantSettings:
    """Where a tenant's hub keeps everything, and how much of it; None is no limit."""

    store: str | None = None
    documents: int | None = None
    subscriptions: int | None = None
    events: int | None = None
    """How many events may be caused in a day; over it, no documents are taken until the day has moved on."""
    query_cost: int | None = None
    """What one standing query may cost, as `preview` estimates it."""
    sparql_seconds: float | None = None
    """How many seconds of SPARQL may be asked for in a minute."""

    def plain(self) -> dict[str, Any]:
        """What is said; ready for JSON."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a service. Sizes are in bytes, times in seconds."""

    store: str = "sqlite:///triplewire.db"
    host: str = "127.0.0.1"
    port: int = 8080
    identity: bool | None = None
    """Whether a client must prove its account; None: unless only this machine can ask (see `is_public`)."""
    edge_of: str | None = None
    """The address of a hub: then this one is an edge of it, and keeps what its rules register there."""
    edge_token: str | None = None
    """The token of the edge's account at that hub, if it wants one and the account has no key."""
    edge_key: str | None = None
    """The file of the private key of that account; without, the edge has a key of its own."""
    edge_account: str | None = None
    """The id of that account, if several there have this key."""
    edge_hub_key: str | None = None
    """The public key that the hub must have; without, it is the one that it had the first time."""
    backbone: str | None = None
    """The addresses of the other hubs of a backbone, with commas: then this one holds the same documents as they."""
    backbone_name: str = ""
    """What this hub is called there; some letters are added, so that the name is its own."""
    backbone_token: str | None = None
    """The token of an admin of the other hubs, if they want one."""
    network: str | None = None
    """The kind of network that this hub is part of: `hypercube` or `hierarchy`."""
    join: str | None = None
    """The address of a hub of that network, which takes this one in; without, it begins a network."""
    cluster: str | None = None
    """In a hierarchy, the names of the units around this hub, the widest first: `lindhaven/harbour`."""
    network_name: str = "hub"
    """How the name of this hub in the network begins; the fingerprint of its key follows."""
    network_patience: float = 30.0
    """How long a hub of the network may be silent before others stand in for it."""
    when_away: str = "refuse"
    """What becomes of a change of a document whose home cannot be reached: `refuse`, or `queue`."""
    pipeline: str = "engine"
    """Who applies what was acknowledged: `engine` (this process), `spark` (a process of its own), `none` (another)."""
    spark_from: int = 5_000
    """How many changes must wait before Spark takes them, and not the engine of the pipeline's process."""
    master: str = "local[*]"
    """Where Spark runs."""
    checkpoint: str | None = None
    """Where Spark notes how far it is; None: in a temporary folder, because the log itself knows what waits."""
    certificate: str | None = None
    """The file of a certificate (PEM, with those that lead to it): then it is https."""
    certificate_key: str | None = None
    """The file of its private key."""
    document_bytes: int = 16 * 1024 * 1024
    """The length of one document."""
    upload_bytes: int = 1024 * 1024 * 1024
    """The length of a bulk upload."""
    batch_bytes: int = 64 * 1024 * 1024
    """The length of several changes that are sent as one."""
    request_bytes: int = 1024 * 1024
    """The length of every other request."""
    request_seconds: float = 30.0
    """How long a request may take to arrive; of a bulk upload, each part of it."""
    waiting_documents: int = 10_000
    """How many documents may wait for their turn before new ones are refused."""
    waiting_bytes: int = 256 * 1024 * 1024
    """And how long they may be together."""
    query_seconds: float = 20.0
    query_bytes: int = 64 * 1024 * 1024
    query_memory: int = 1024 * 1024 * 1024
    """How many bytes of memory a SPARQL query may take, besides the documents."""
    query_processes: int = 1
    longest_wait: float = 60.0
    """How long a request for events may wait for one."""
    streams: int = 2_000
    """How many event streams may be open."""
    downloads: int = 4
    """How many files that must be whole before they are sent (Excel, Parquet) an account may have at a time."""
    all_downloads: int = 16
    """And how many all accounts may have together."""
    download_seconds: float = 60.0
    """How long a client may take to read one part of a file (64 KiB of Excel and Parquet) before it is cut off."""
    requests: float | None = None
    """How many requests a second an account may send, ten seconds' worth of them at once; 0 is no limit, None is 100
    where other machines can ask."""
    deliver: bool = True
    """Whether this process delivers; otherwise another one on the same store does."""
    reach: str = ""
    """Networks besides the public internet that events may be sent to: 127.0.0.0/8, fd00::/8; `private` for all."""
    secrets_key: str | None = None
    """The file of the key that secrets of deliveries are encrypted with; None: beside each store that is a file."""
    address: str = ""
    """Where clients find the service, if that is not where it listens: https://hub.example. Feeds name it."""
    proxies: str = ""
    """Networks of the proxies in front, as of `reach`: what they say of clients (X-Forwarded-For) is believed."""
    quotas: TenantSettings = field(default_factory=TenantSettings)
    """Of tenants that have none of their own."""
    tenants: Mapping[str, TenantSettings] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Settings:
        """The settings that a TOML file gives; ServiceError says what is wrong with it."""
        return cls.of(cls.table_in(path), str(path))

    @staticmethod
    def table_in(path: Path) -> dict[str, Any]:
        """What a TOML file says, not looked at yet."""
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ServiceError(f"{path}: the settings cannot be read: {error}") from None

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> dict[str, Any]:
        """The settings that variables give: TRIPLEWIRE_PORT is `port`; quotas and tenants have none."""
        kinds = {each.name: str(each.type).split(" ")[0] for each in fields(cls) if each.name not in _TABLES}
        found: dict[str, Any] = {}
        for variable, text in environment.items():
            name = variable.removeprefix(_PREFIX).lower()
            if not variable.startswith(_PREFIX) or name in _OF_OTHERS:
                continue
            if name not in kinds:
                raise ServiceError(f"{variable}: there is no such setting{_hint(name, kinds)}")
            found[name] = _value(text, kinds[name], variable)
        return found

    def plain(self) -> dict[str, Any]:
        """What `of` makes the same settings of; ready for JSON."""
        found: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        found["quotas"] = self.quotas.plain()
        found["tenants"] = {name: own.plain() for name, own in self.tenants.items()}
        return {name: value for name, value in found.items() if value is not None}

    @classmethod
    def of(cls, given: Mapping[str, Any], source: str = "settings") -> Settings:
        """The settings of a mapping, as a TOML file has them."""
        plain = {name: value for name, value in given.items() if name not in _TABLES}
        _check(cls, plain, source)
        quotas = _tenant(given.get("quotas", {}), f"{source}, quotas")
        named = given.get("tenants", {})
        if not isinstance(named, dict):
            raise ServiceError(f"{source}: tenants are tables: [tenants.NAME]")
        for name in named:
            refuse_bad_name(name)
        tenants = {name: _tenant(table, f"{source}, tenants.{name}") for name, table in named.items()}
        for networks in ("reach", "proxies"):
            _refuse_bad_networks(networks, plain.get(networks, ""), source)
        if plain.get("pipeline", PIPELINES[0]) not in PIPELINES:
            raise ServiceError(f"{source}: pipeline is {plain['pipeline']!r}; it must be one of {', '.join(PIPELINES)}")
        if plain.get("when_away", AWAY[0]) not in AWAY:
            raise ServiceError(f"{source}: when_away is {plain['when_away']!r}; it must be one of {', '.join(AWAY)}")
        if sum(bool(plain.get(each)) for each in ("edge_of", "backbone", "network")) > 1:
            raise ServiceError(
                f"{source}: a hub is an edge, or part of a backbone, or of a network, not several of them; leave the "
                "others out"
            )
        if plain.get("network", NETWORKS[0]) not in NETWORKS:
            raise ServiceError(f"{source}: network is {plain['network']!r}; it must be {' or '.join(NETWORKS)}")
        if plain.get("join") and not plain.get("network"):
            raise ServiceError(f"{source}: join names a hub of a network; say which kind as well: --network hypercube")
        if plain.get("cluster") and plain.get("network") != "hierarchy":
            raise ServiceError(f"{source}: cluster is a place in a hierarchy; say as well: --network hierarchy")
        _refuse_bad_cluster(plain.get("cluster") or "", source)
        return replace(cls(), **plain, quotas=quotas, tenants=tenants)

    @property
    def reachable(self) -> Reach:
        """Where events may be sent."""
        return Reach.of(self.reach)

    @property
    def believed(self) -> list[str]:
        """The networks of the proxies in front, as the server takes them."""
        return [str(network) for network in Reach.of(self.proxies).networks]

    @property
    def is_public(self) -> bool:
        """Whether other machines can ask: where it listens, by the address that it has for clients, or by a proxy."""
        has_public_address = bool(self.address) and not is_loopback(host_of(self.address))
        return not is_loopback(self.host) or has_public_address or bool(self.proxies)

    @property
    def asks_who(self) -> bool:
        """Whether a client must prove its account."""
        return self.is_public if self.identity is None else self.identity

    def of_tenant(self, name: str) -> TenantSettings:
        """The settings of a tenant, those of all filled in where it has none."""
        refuse_bad_name(name)
        own = self.tenants.get(name, TenantSettings())
        return replace(self.quotas, **own.plain() | {"store": own.store or self._store_of(name)})

    def _store_of(self, name: str) -> str:
        """A tenant without a store of its own has a file beside the main one."""
        if name == MAIN:
            return self.store
        if not self.store.startswith("sqlite:///"):
            raise ServiceError(
                f"the tenant {name!r} has no store; name one in the settings: [tenants.{name}] store = 'postgresql://…'"
            )
        return f"{self.store.removesuffix('.db')}.{name}.db"


def _refuse_bad_cluster(cluster: str, source: str) -> None:
    names = cluster.split("/") if cluster else []
    if len(names) > 3 or not all(name.strip() and len(name) <= 60 for name in names):
        raise ServiceError(
            f"{source}: cluster is {cluster[:200]!r}; it must name the units around the hub, at most 3, the widest "
            "first, such as lindhaven/harbour"
        )


def _refuse_bad_networks(name: str, text: str, source: str) -> None:
    try:
        Reach.of(text)
    except ValueError as error:
        raise ServiceError(f"{source}: {name} is {text!r}: {error}; write networks with commas, or private") from None


def refuse_open(settings: Settings) -> None:
    """ServiceError for a hub that other machines can ask, and that shall not ask who they are."""
    if settings.is_public and settings.identity is False:
        where = settings.address or settings.host
        raise ServiceError(
            f"{where} can be reached from other machines, so identity must be on: take identity = false out of the "
            "settings, or listen on 127.0.0.1, without a public address and without proxies"
        )


def refuse_bad_name(name: str) -> None:
    """ServiceError for a name that could not be part of a file's name everywhere."""
    if not _NAME.fullmatch(name):
        raise ServiceError(f"{name!r} is no name for a tenant: use small letters, digits, - and _, at most 63 of them")


def _tenant(table: Any, source: str) -> TenantSettings:
    if not isinstance(table, dict):
        raise ServiceError(f"{source}: this must be a table")
    _check(TenantSettings, table, source)
    return TenantSettings(**table)


def _check(kind: type[Settings] | type[TenantSettings], given: Mapping[str, Any], source: str) -> None:
    """Refuse names that mean nothing, and values of another type than the default's."""
    known = {each.name: str(each.type) for each in fields(kind)}
    for name, value in given.items():
        if name not in known:
            raise ServiceError(f"{source}: there is no setting {name!r}{_hint(name, known)}")
        wanted = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}[known[name].split(" ")[0]]
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise ServiceError(f"{source}: {name} is {value!r}; it must be of type {known[name]}")
        if isinstance(value, int | float) and value < 0:
            raise ServiceError(f"{source}: {name} is {value!r}; it must not be negative")


def _hint(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, [*known, *_TABLES], 1)
    return f"; do you mean {near[0]!r}?" if near else f"; there are: {', '.join(known)}"


def _value(text: str, kind: str, variable: str) -> Any:
    try:
        if kind == "bool":
            return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
        return {"str": str, "int": int, "float": float}[kind](text)
    except (ValueError, KeyError):
        raise ServiceError(f"{variable} is {text!r}; it must be of type {kind}") from None
