// Key pairs: who has the private key signs what the hub asks, and gets a session. The private key never leaves the
// browser: one that is made here cannot be read even by this page, and one from a file is kept in memory only.

import { post, proveWith, token } from "./api.js";

const ALGORITHM = "Ed25519";
const ACCOUNT = "triplewire.account";
const [DATABASE, STORE, OWN] = ["triplewire", "keys", "own"];

/** Browsers have keys for pages that nobody could have changed on the way. */
export const areThere = () => Boolean(globalThis.crypto?.subtle);

const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** The private key of a PEM file, as `triplewire token create --key` makes it. */
export async function read(file) {
  const pem = /-----BEGIN PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END PRIVATE KEY-----/.exec(await file.text());
  try {
    const bytes = Uint8Array.from(atob(pem[1].replace(/\s/g, "")), (each) => each.charCodeAt(0));
    return await crypto.subtle.importKey("pkcs8", bytes, ALGORITHM, false, ["sign"]);
  } catch {
    throw new Error("This file is no Ed25519 private key (PEM, not encrypted).");
  }
}

/** A new key pair, kept in this browser; gives its public half in hexadecimal. */
export async function make() {
  const pair = await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
  const publicKey = hex(await crypto.subtle.exportKey("raw", pair.publicKey));
  await changed((keys) => keys.put({ privateKey: pair.privateKey, publicKey, account: "" }, OWN));
  return publicKey;
}

/** What `make` kept, with the account that it was last used for; undefined if there is nothing. */
export async function kept() {
  return areThere() ? changed((keys) => keys.get(OWN)) : undefined;
}

export const forget = () => changed((keys) => keys.delete(OWN));

/** Sign in, and again by itself whenever the session is over. */
export async function signIn(account, privateKey, { isKept = false } = {}) {
  const prove = () => session(account, privateKey);
  token.set(await prove());
  proveWith(prove);
  if (!isKept) return;
  const own = await kept();
  await changed((keys) => keys.put({ ...own, account }, OWN));
  sessionStorage.setItem(ACCOUNT, account); // of this tab: after it was loaded again, it is still signed in
}

/** Of a tab that was loaded again, while it was signed in with the key that is kept. */
export async function resume() {
  const account = sessionStorage.getItem(ACCOUNT);
  const own = account && (await kept());
  if (own) proveWith(() => session(account, own.privateKey));
}

async function session(account, privateKey) {
  const { challenge } = await post("/v1/challenges", { account }, { isProof: true });
  const text = new TextEncoder().encode(`triplewire challenge ${challenge}`); // made here: nothing else is ever signed
  const signature = hex(await crypto.subtle.sign(ALGORITHM, privateKey, text));
  return (await post("/v1/sessions", { challenge, signature }, { isProof: true })).token;
}

/** The result of a request to the browser's own store of keys. */
function changed(ask) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const asked = ask(opening.result.transaction(STORE, "readwrite").objectStore(STORE));
      asked.transaction.oncomplete = () => (opening.result.close(), resolve(asked.result));
      asked.transaction.onerror = () => (opening.result.close(), reject(asked.error));
    };
  });
}
