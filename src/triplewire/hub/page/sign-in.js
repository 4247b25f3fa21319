// Who is it? A token of an account, kept for this tab.

import { el, field, problem, put, refill } from "./dom.js";
import { token } from "./api.js";

export function showSignIn({ section, signedIn }) {
  const input = el("input", { type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const told = el("div");

  async function signIn(event) {
    event.preventDefault();
    token.set(input.value.trim());
    try {
      await signedIn();
    } catch (error) {
      token.forget();
      refill(told, problem(error));
      input.focus();
    }
  }

  put(
    section,
    el("h1", {}, "Sign in"),
    el(
      "p",
      {},
      "This hub wants to know who asks. Whoever runs it gives you a token: ",
      el("code", {}, "triplewire token create"),
    ),
    el(
      "form",
      { class: "narrow", on: { submit: signIn } },
      field("Token", input, "It is kept until this tab is closed, and sent to this hub only."),
      told,
      el("button", { class: "primary" }, "Sign in"),
    ),
  );
}
