// The page: which view is shown, and for whom. Every view is a function that fills a place and stops when it is told.

import { announce, button, el, link, problem, put, refill } from "./dom.js";
import { age, get, proveWith, token } from "./api.js";
import { resume } from "./keys.js";
import { showBrowse, showSearch } from "./browse.js";
import { showInbox } from "./inbox.js";
import { showFind } from "./find.js";
import { showResource } from "./resource.js";
import { showDocument, showDocuments } from "./documents.js";
import { showWrite } from "./write.js";
import { showLike } from "./like.js";
import { showSubscriptions } from "./subscriptions.js";
import { forgetSecrets } from "./deliveries.js";
import { showSubscription } from "./subscription.js";
import { showDashboard } from "./dashboard.js";
import { showPublish } from "./publish.js";
import { showSignIn } from "./sign-in.js";
import { showEdge } from "./edges.js";
import { showNetwork } from "./network.js";
import { showBackbone } from "./backbone.js";
import { ago } from "./times.js";

const VIEWS = {
  "": showInbox,
  browse: showBrowse,
  search: showSearch,
  find: showFind,
  resource: showResource,
  documents: showDocuments,
  document: showDocument,
  write: showWrite,
  like: showLike,
  subscriptions: showSubscriptions,
  subscription: showSubscription,
  dashboard: showDashboard,
  publish: showPublish,
  edge: showEdge,
  network: showNetwork,
  backbone: showBackbone,
  "sign-in": showSignIn,
};
const NAVIGATION = [
  ["", "Inbox", []],
  ["browse", "Browse", ["search", "find", "resource", "documents", "document"]],
  ["write", "Subscribe", ["like"]],
  ["subscriptions", "Subscriptions", ["subscription"]],
  ["dashboard", "Dashboard", []],
  ["publish", "Publish", []],
  ["edge", "Edge", []],
  ["network", "Network", []],
  ["backbone", "Backbone", []],
];
const ROLES = ["reader", "publisher", "admin"];

const main = document.getElementById("main");
let me = null;
let wantsIdentity = false;
let current = new AbortController();

/** Whether who is here may do what a role may. */
function may(role) {
  return me !== null && ROLES.indexOf(me.role) >= ROLES.indexOf(role);
}

function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path, params: new URLSearchParams(query) };
}

async function show({ isFirst = false } = {}) {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const { path, params } = place();
  navigation(params.has("edit") ? "subscription" : path);
  const section = el("section", { "aria-busy": "true" });
  const moment = el("p", { class: "hint", hidden: true }, "One moment …");
  const waiting = setTimeout(() => (moment.hidden = false), 300);
  refill(main, moment, section);
  try {
    const fill = me === null ? showSignIn : VIEWS[path];
    if (!fill) throw new Error("There is nothing at this address.");
    await fill({ section, params, signal, me, may, signedIn: enter });
  } catch (error) {
    if (signal.aborted) return;
    put(section, problem(error));
  } finally {
    clearTimeout(waiting);
    moment.remove();
    section.removeAttribute("aria-busy");
  }
  if (signal.aborted) return;
  const heading = section.querySelector("h1");
  document.title = heading ? `${heading.textContent} · Triplewire` : "Triplewire";
  if (!isFirst) {
    heading?.setAttribute("tabindex", "-1");
    if (!section.contains(document.activeElement)) heading?.focus({ preventScroll: true });
    scrollTo(0, 0);
    announce(document.title);
  }
}

function navigation(path) {
  const links = NAVIGATION.filter(
    ([target]) =>
      (target !== "publish" || may("publisher")) &&
      (target !== "edge" || me?.is_edge) &&
      (target !== "network" || me?.is_networked) &&
      (target !== "backbone" || (me?.is_in_backbone && may("admin"))),
  );
  refill(
    document.getElementById("navigation"),
    ...links.map(([target, text, below]) => {
      const entry = link(target, {}, text);
      if (me !== null && (target === path || below.includes(path))) entry.setAttribute("aria-current", "page");
      return el("li", {}, entry);
    }),
  );
  const account = document.getElementById("account");
  if (!wantsIdentity) return account.replaceChildren();
  const signIn = link("sign-in", {}, "Sign in");
  signIn.setAttribute("aria-current", "page");
  refill(
    account,
    me === null
      ? signIn
      : el("span", {}, `${me.name}, ${me.role} `, button("Sign out", leave, { class: "quiet" })),
  );
}

/** What an edge shows may be old: how old is said below everything that it shows. */
function sayAge(seconds) {
  const since = Number.isFinite(seconds) ? ago(Date.now() - seconds * 1000) : "never: the hub has told nothing yet";
  const said = `What this edge keeps is that of its hub, confirmed ${since}.`;
  const line = document.getElementById("age");
  if (line.textContent !== said) refill(line, said);
}

async function enter() {
  me = await get("/v1/whoami");
  if (place().path === "sign-in") location.hash = "#/";
  else await show();
}

function leave() {
  sessionStorage.clear(); // the token, whose key it was, and a query that was being written
  forgetSecrets();
  proveWith(null);
  me = null;
  location.hash = "#/sign-in";
  show();
}

async function begin() {
  age.told = sayAge;
  try {
    const health = await get("/v1/health/live");
    wantsIdentity = health.identity;
    if (wantsIdentity) await resume();
    document.getElementById("version").textContent = `Version ${health.version}`;
    me = wantsIdentity && !token.get() ? null : await get("/v1/whoami");
  } catch (error) {
    if (error.status !== 401) return refill(main, problem(error));
  }
  addEventListener("hashchange", () => location.hash !== "#main" && show());
  addEventListener("signed-out", () => me !== null && leave());
  await show({ isFirst: true });
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
begin();
