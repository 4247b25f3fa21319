"""What the tests of deliveries share: a hub with a subscription, a receiver, and a deliverer that may reach it."""

from dataclasses import asdict

import pytest

from deliver.receiving import receiving
from triplewire import Hub
from triplewire.deliver import Deliverer, Deliveries, DeliveryManners, RetryPace
from triplewire.outbound import Reach

QUICK = RetryPace(first=0.05, longest=0.2, attempts=3, patience=3600)


@pytest.fixture
def receiver():
    with receiving() as found:
        yield found


class Post:
    """A hub on a store, with a subscription to everything with a size, and what is delivered of it."""

    def __init__(self, url):
        self.url = url
        self.hub = Hub(url)
        self.hub.subscribe("SELECT ?d ?n { ?d <urn:size> ?n }", id="sizes")
        self.deliveries = Deliveries(self.hub.store)
        self.running = []

    def publish(self, name, size):
        self.hub.publish(f"<urn:{name}> <urn:size> {size} .", uri=f"urn:doc:{name}")

    def told(self, id):
        return asdict(self.deliveries.condition(id))

    def deliver(self, reach="127.0.0.0/8", **manners):
        options = {"seconds": 2.0, "look_every": 0.02, "pace": QUICK, "lease": 8.0} | manners
        deliverer = Deliverer(reach=Reach.of(reach), manners=DeliveryManners(**options))
        deliverer.start()
        deliverer.serve("main", self.url)
        self.running.append(deliverer)
        return deliverer


@pytest.fixture
def make_post():
    made = []

    def make(url):
        made.append(Post(url))
        return made[-1]

    yield make
    for post in made:
        for deliverer in post.running:
            deliverer.stop()
        post.hub.close()


@pytest.fixture
def post(make_post, tmp_path):
    return make_post(f"sqlite:///{tmp_path}/hub.db")
