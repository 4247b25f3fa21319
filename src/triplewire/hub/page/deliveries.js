// Where events are sent, how that goes, and what to do when it does not.

import {
  announce,
  button,
  choice,
  confirmed,
  copyButton,
  el,
  field,
  link,
  options,
  plural,
  problem,
  refill,
  table,
} from "./dom.js";
import { get, post, send } from "./api.js";
import { duration, time } from "./times.js";

const KINDS = [
  ["webhook", "Webhook: each event, signed"],
  ["digest hourly", "Digest, hourly"],
  ["digest daily", "Digest, daily"],
  ["ldn", "Linked Data Notification to an inbox"],
];
const SIGNED = ["webhook", "digest"];

// Secrets that were told and not yet put away, by delivery. They live as long as the page, and are kept nowhere.
const told = new Map();

/** Who signs out leaves none of them behind. */
export function forgetSecrets() {
  told.clear();
}

const STATES = { active: "ok", waiting: "late", paused: "late", verifying: "late", disabled: "failing" };

/** The deliveries of a subscription, for who may see them; null for others. */
export async function deliveriesOf(id, signal) {
  const path = `/v1/subscriptions/${encodeURIComponent(id)}/deliveries`;
  const list = el("ul", { class: "plain" });
  const said = el("div", { "aria-live": "polite" });

  async function renew() {
    const found = await get(path, {}, { signal });
    refill(list, ...found.deliveries.map((each) => el("li", {}, condition(each, act))));
    if (!found.deliveries.length)
      refill(list, el("li", { class: "hint" }, "Events are sent nowhere; they wait to be fetched."));
  }

  async function act(deed, done) {
    try {
      const answer = await deed();
      refill(said, el("p", { class: "hint" }, done(answer)));
      await renew();
    } catch (error) {
      if (!signal.aborted) refill(said, problem(error));
    }
  }

  try {
    await renew();
  } catch (error) {
    if (error.status === 403) return null;
    throw error;
  }
  return [list, said, addition(path, act)];
}

function condition(each, act) {
  const path = `/v1/deliveries/${encodeURIComponent(each.id)}`;
  const isStopped = each.state === "paused" || each.state === "disabled";
  const change = (state) =>
    act(
      () => send("PATCH", path, { json: { state } }),
      () => (state === "active" ? "It goes on." : "It is paused."),
    );
  const remove = async () => {
    if (await confirmed(`Send nothing to ${each.url} any more?`, "Remove"))
      act(
        () => send("DELETE", path),
        () => "It is removed.",
      );
  };
  const ping = () =>
    act(
      () => post(`${path}/ping`),
      (answer) => (answer.arrived ? `A test arrived: ${answer.detail}` : `A test did not arrive: ${answer.detail}`),
    );
  const replay = () =>
    act(
      () => post(`${path}/dead/replay`, {}),
      ({ count }) => `${plural(count, "message")} will be sent again.`,
    );
  const newSecret = async () => {
    const question = "Sign with a new secret? For a day messages are signed with the old one, too.";
    if (!(await confirmed(question, "New secret"))) return;
    act(
      () => post(`${path}/secret`, {}),
      ({ secret }) => (told.set(each.id, secret), "There is a new secret."),
    );
  };
  return el(
    "div",
    { class: "delivery" },
    el(
      "p",
      {},
      el("span", { class: `badge ${STATES[each.state]}` }, each.state),
      ` ${each.kind}${each.every ? `, ${each.every}` : ""} to `,
      el("code", {}, each.url),
    ),
    el("p", { class: "hint" }, health(each)),
    each.reason || each.last_error ? el("p", { class: "problem" }, each.reason ?? each.last_error) : null,
    told.has(each.id) ? secretOf(each.id) : null,
    el(
      "p",
      { class: "actions" },
      button("Try it", ping, { class: "quiet" }),
      isStopped
        ? button("Resume", () => change("active"), { class: "quiet" })
        : button("Pause", () => change("paused"), { class: "quiet" }),
      each.dead ? button(`Send ${plural(each.dead, "dead letter")} again`, replay, { class: "quiet" }) : null,
      SIGNED.includes(each.kind) ? button("New secret", newSecret, { class: "quiet" }) : null,
      button("Remove", remove, { class: "quiet" }),
    ),
  );
}

/** The secret of a delivery, until it is put away: whatever else is done meanwhile, it stays. */
function secretOf(delivery) {
  const code = el("code", { class: "secret" }, told.get(delivery));
  const away = () => {
    told.delete(delivery);
    place.remove();
    announce("The secret is put away.");
  };
  const place = el(
    "div",
    { class: "told-once", role: "group", "aria-label": "The secret" },
    el("p", {}, "Messages are signed with this secret. The hub tells it only now: copy it to the receiver."),
    el("p", { class: "actions" }, code),
    el(
      "p",
      { class: "actions" },
      copyButton(told.get(delivery), code),
      button("Put it away", away, { class: "quiet" }),
    ),
  );
  return place;
}

function health(each) {
  const behind = each.lag ? `${plural(each.lag, "event")} behind, for ${duration(each.lag_seconds)}` : "nothing waits";
  const last = each.last_delivered ? ["; last delivered ", time(each.last_delivered)] : [];
  const again = each.next_at ? ["; tries again ", time(each.next_at)] : [];
  return [
    `${plural(each.delivered, "message")} delivered, ${each.failed.toLocaleString("en")} failed, ${behind}`,
    ...last,
    ...again,
    ".",
  ];
}

function addition(path, act) {
  const url = el("input", {
    type: "url",
    required: true,
    spellcheck: "false",
    placeholder: "https://receiver.example/hook",
  });
  const kind = options(el("select"), KINDS, "webhook");
  let after = "now";
  const submit = (event) => {
    event.preventDefault();
    const [name, every] = kind.value.split(" ");
    act(
      () => post(path, { kind: name, url: url.value, after, ...(every ? { every } : {}) }),
      (made) => {
        if (made.secret) told.set(made.id, made.secret);
        url.value = "";
        return after === "now" ? "It begins with the next event." : "It begins with the first event.";
      },
    );
    announce("Asked.");
  };
  return el(
    "details",
    {},
    el("summary", {}, "Send events somewhere"),
    el(
      "form",
      { on: { submit } },
      field("Address", url),
      field("How", kind),
      choice(
        "Send events",
        [
          ["now", "from now on"],
          ["beginning", "from the beginning"],
        ],
        "now",
        (value) => (after = value === "now" ? "now" : 0),
      ),
      el("button", {}, "Send"),
    ),
  );
}

/** All deliveries that one may see, for the dashboard; those in trouble first. */
export async function deliveriesTable(signal) {
  const { deliveries } = await get("/v1/deliveries", { limit: 200 }, { signal });
  if (!deliveries.length) return el("p", {}, "None yet.");
  const trouble = (each) => (each.state === "disabled" ? 2 : each.failures_in_a_row > 0 ? 1 : 0);
  const sorted = deliveries.sort((a, b) => trouble(b) - trouble(a) || b.lag - a.lag).slice(0, 15);
  return table(
    "Deliveries",
    ["Subscription", "To", "State", "Behind", "Failed", "Dead"],
    sorted.map((each) => [
      link("subscription", { id: each.subscription }, each.subscription),
      el("code", {}, each.url),
      el("span", { class: `badge ${STATES[each.state]}` }, each.state),
      each.lag.toLocaleString("en"),
      each.failed.toLocaleString("en"),
      each.dead.toLocaleString("en"),
    ]),
  );
}
