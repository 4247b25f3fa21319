// Documents, named by the end of their uri, as links; with two versions, to what changed between them.

import { el, view } from "./dom.js";

export function documentLinks(documents) {
  return documents.map(({ uri, from, to }, number) => [
    number ? ", " : "",
    el(
      "a",
      { href: view("document", { uri, from: from && to ? from : null, to: from && to ? to : null }), title: uri },
      uri.split(/[/#]/).filter(Boolean).at(-1) ?? uri,
    ),
  ]);
}
