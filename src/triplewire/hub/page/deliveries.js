// How deliveries go: to where, how far behind, and what failed.

import { el } from "./dom.js";
import { get } from "./api.js";

export async function deliveries(id, signal) {
  const found = await get(`/v1/subscriptions/${encodeURIComponent(id)}/deliveries`, {}, { signal });
  return el("p", {}, JSON.stringify(found));
}
