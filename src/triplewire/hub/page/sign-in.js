// Who is it? A token of an account, kept for this tab; or a key pair, whose private half stays in the browser.

import { announce, button, el, field, problem, put, refill } from "./dom.js";
import { proveWith, token } from "./api.js";
import * as keys from "./keys.js";

export async function showSignIn({ section, signedIn }) {
  put(
    section,
    el("h1", {}, "Sign in"),
    el("p", {}, "This hub wants to know who asks. Whoever runs it gives you a token, or registers your key."),
    el("div", { class: "columns" }, withToken(signedIn), await withKey(signedIn)),
  );
}

function withToken(signedIn) {
  const input = el("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const told = el("div");

  async function signIn(event) {
    event.preventDefault();
    proveWith(null);
    token.set(input.value.trim());
    await entered(signedIn, told, input);
  }

  return el(
    "form",
    { class: "card", on: { submit: signIn } },
    el("h2", {}, "With a token"),
    el("p", {}, "It is made with ", el("code", {}, "triplewire token create"), "."),
    field("Token", input, "It is kept until this tab is closed, and sent to this hub only."),
    told,
    el("button", { class: "primary" }, "Sign in"),
  );
}

async function withKey(signedIn) {
  const card = el("section", { class: "card" });
  if (!keys.areThere())
    return put(
      card,
      el("h2", {}, "With a key"),
      el("p", {}, "Keys need a page that came by https: ask whoever runs this hub for a certificate."),
    );

  async function renew() {
    const own = await keys.kept();
    refill(card, el("h2", {}, "With a key"), own ? keptKey(own, signedIn, renew) : keyFile(signedIn, renew));
  }

  await renew();
  return card;
}

/** The key that was made in this browser. */
function keptKey(own, signedIn, renew) {
  const account = accountInput(own.account);
  const told = el("div");

  async function signIn(event) {
    event.preventDefault();
    await proved(signedIn, told, account, () => keys.signIn(account.value.trim(), own.privateKey, { isKept: true }));
  }

  async function forget() {
    await keys.forget();
    announce("The key is forgotten.");
    await renew();
  }

  return el(
    "form",
    { on: { submit: signIn } },
    el("p", {}, "This browser has a key. Its public half is"),
    el("p", {}, el("code", { class: "secret" }, own.publicKey)),
    el("p", { class: "hint" }, "Whoever runs the hub registers it, and tells you the id of your account:"),
    el("p", {}, el("code", { class: "secret" }, `triplewire token create STORE NAME --public-key ${own.publicKey}`)),
    field("Account", account),
    told,
    el(
      "p",
      { class: "actions" },
      el("button", { class: "primary" }, "Prove the key"),
      button("Forget this key", forget, { class: "danger" }),
    ),
  );
}

/** A key in a file; or a new one. */
function keyFile(signedIn, renew) {
  const account = accountInput("");
  const file = el("input", { type: "file", required: true, accept: ".pem,.key" });
  const told = el("div");

  async function signIn(event) {
    event.preventDefault();
    await proved(signedIn, told, account, async () =>
      keys.signIn(account.value.trim(), await keys.read(file.files[0])),
    );
  }

  async function make() {
    try {
      await keys.make();
      announce("There is a key in this browser now.");
      await renew();
    } catch (error) {
      refill(told, problem(error));
    }
  }

  return el(
    "form",
    { on: { submit: signIn } },
    field("Account", account, "Its id, as whoever runs the hub told you."),
    field("Private key", file, "A PEM file. It is read by this page, and sent nowhere."),
    told,
    el(
      "p",
      { class: "actions" },
      el("button", { class: "primary" }, "Prove the key"),
      button("Make a key in this browser", make),
    ),
  );
}

function accountInput(value) {
  return el("input", { type: "text", required: true, spellcheck: "false", autocomplete: "username", value });
}

async function proved(signedIn, told, input, prove) {
  try {
    await prove();
  } catch (error) {
    refill(told, problem(error));
    return;
  }
  await entered(signedIn, told, input);
}

async function entered(signedIn, told, input) {
  try {
    await signedIn();
  } catch (error) {
    token.forget();
    refill(told, problem(error));
    input.focus();
  }
}
