"""Who asks too fast is told when to come back; the others do not notice."""

from __future__ import annotations

import pytest

from hub.serving import problem, serving
from triplewire.errors import TooManyRequests
from triplewire.hub import Settings
from triplewire.hub.identity.accounts import Accounts
from triplewire.hub.service import Service
from triplewire.hub.tenancy.pace import RequestPace
from triplewire.store import Store


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_fills_again_and_never_over_its_brim():
    clock = Clock()
    pace = RequestPace(10, burst=3, clock=clock)
    clock.now = 1_000.0
    for _ in range(3):
        pace.spend("a")
    with pytest.raises(TooManyRequests) as caught:
        pace.spend("a")
    clock.now += caught.value.seconds + 1e-9
    pace.spend("a")
    pace.spend("b")


def test_callers_that_are_forgotten_are_the_quiet_ones():
    clock = Clock()
    pace = RequestPace(1, burst=1, clock=clock)
    pace.spend("fast")
    for number in range(9_999):
        pace.spend(f"other {number}")
    with pytest.raises(TooManyRequests):
        pace.spend("fast")
    pace.spend("one more")
    with pytest.raises(TooManyRequests):
        pace.spend("fast")


@pytest.fixture
def tokens(tmp_path):
    with Store.open(f"sqlite:///{tmp_path}/hub.db") as opened:
        accounts = Accounts(opened)
        return [accounts.create_token(name, role="reader")[1] for name in ("fast", "calm")]


def test_an_account_that_asks_too_fast_is_told_when_to_come_back(tmp_path, tokens):
    fast, calm = ({"Authorization": f"Bearer {token}"} for token in tokens)
    with serving(f"sqlite:///{tmp_path}/hub.db", identity=True, requests=0.1) as served:
        served.stop_refilling()
        assert served.get("/v1/subscriptions", headers=fast).status_code == 200
        answer = served.get("/v1/subscriptions", headers=fast)
        told = problem(answer, 429, "too-many-requests")
        assert 0 < told["seconds"] <= 10
        assert int(answer.headers["retry-after"]) >= told["seconds"]
        assert served.get("/v1/subscriptions", headers=calm).status_code == 200
        assert served.get("/v1/health").status_code == 200, "a supervisor asks as often as it likes"


def test_a_machine_that_guesses_tokens_is_told_to_wait_and_a_valid_one_counts(tmp_path, tokens):
    with serving(f"sqlite:///{tmp_path}/hub.db", identity=True) as served:
        served.stop_refilling()
        guesses = [served.get("/v1/whoami", headers={"Authorization": f"Bearer tw_x_{n}"}) for n in range(200)]
        statuses = [guess.status_code for guess in guesses]
        assert statuses[:50] == [401] * 50
        assert statuses[-1] == 429
        right = served.get("/v1/whoami", headers={"Authorization": f"Bearer {tokens[0]}"})
        assert right.status_code == 200, "behind a proxy, others have the same address"


@pytest.mark.parametrize(
    ("host", "requests", "is_limited"),
    [("127.0.0.1", None, False), ("0.0.0.0", None, True), ("0.0.0.0", 0.0, False), ("127.0.0.1", 1.0, True)],
)
def test_limits_are_on_where_other_machines_can_ask(host, requests, is_limited):
    pace = Service(Settings(host=host, requests=requests)).pace

    def ask() -> None:
        for _ in range(10_000):
            pace.spend("somebody")

    if is_limited:
        with pytest.raises(TooManyRequests):
            ask()
    else:
        ask()
