// The feeds of a subscription: as they are, or at a secret address, because a feed reader has no token.

import { announce, button, confirmed, copyButton, el, problem, refill } from "./dom.js";
import { get, post, send } from "./api.js";
import { exact } from "./times.js";

const FEEDS = { atom: "Atom", rss2: "RSS", json: "JSON Feed" };

export function plainFeeds(path) {
  return links(`${path}/feed`);
}

function links(address) {
  const found = Object.entries(FEEDS).map(([syntax, name]) => el("a", { href: `${address}?syntax=${syntax}` }, name));
  return el("p", { class: "actions" }, found);
}

/** Whoever made the subscription makes an address, sees it once, and can revoke it. */
export async function secretFeeds(path, signal) {
  const place = el("div");
  const own = `${path}/feed-address`;

  const told = el("div");

  async function renew(made = null) {
    const kept = await get(own, {}, { signal }).catch((error) => {
      if (error.status === 404) return null;
      throw error;
    });
    const about = kept
      ? `There is one since ${exact(kept.created)}. Whoever knows it can read the feed.`
      : "A feed reader cannot sign in. It can read the feed at an address that nobody can guess.";
    const address = made && el("code", { class: "secret" }, made);
    told.replaceChildren();
    refill(
      place,
      el("p", {}, about),
      made && el("p", {}, "This is the address. It is shown this once: copy it now."),
      made && el("p", { class: "actions" }, address, copyButton(made, address)),
      made && links(made),
      el(
        "p",
        { class: "actions" },
        button(kept ? "Replace the address" : "Make a secret address", () => tried(make)),
        kept ? button("Revoke the address", () => tried(revoke), { class: "danger" }) : null,
      ),
      told,
    );
  }

  async function make() {
    const { address } = await post(own, undefined, { signal });
    await renew(address);
    announce("There is a new address for the feed.");
  }

  async function revoke() {
    if (!(await confirmed("Revoke the address? Every reader that uses it gets nothing any more.", "Revoke"))) return;
    await send("DELETE", own, { signal });
    await renew();
    announce("The address is revoked.");
  }

  async function tried(act) {
    try {
      await act();
    } catch (error) {
      if (!signal.aborted) refill(told, problem(error));
    }
  }

  await renew();
  return place;
}
