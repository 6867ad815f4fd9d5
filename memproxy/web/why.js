// "Why did it say that?": what went into a request, or what would go into one, and why.

import { get, of } from "./api.js";
import { field, fill, h, told } from "./dom.js";
import { full, many, reasons } from "./format.js";
import { link } from "./links.js";

const REQUEST = /^[0-9a-f]{32}$/;

export async function view(page, entity, [asked]) {
  const input = h("input", { type: "search", name: "question", value: asked ?? "", autocomplete: "off", placeholder: "A question, or a request id" });
  const answer = h("div", { "aria-live": "polite" });
  const submit = (event) => {
    event.preventDefault();
    location.hash = link("why", entity ?? "", input.value.trim());
  };
  fill(page, h("h1", {}, "Why did it say that?"),
    h("p", { class: "lead" }, "Paste the ", h("code", {}, "X-MemG-Request-Id"), " of an answer to see what was injected for it; or write what ",
      entity ?? "somebody", " might say, to see what it would bring up. Nothing is stored."),
    h("form", { onsubmit: submit, class: "inline" }, field("Question or request id", input), h("button", { type: "submit", class: "main" }, "Look")), answer);
  if (!asked) return;
  try {
    fill(answer, REQUEST.test(asked) ? await receiptOf(asked) : await dryRun(entity, asked));
  } catch (error) {
    fill(answer, h("p", { class: "problem", role: "alert" }, told(error)));
  }
}

/** What was injected into a request. */
export async function receiptOf(id) {
  const row = await get(`receipts/${encodeURIComponent(id)}`);
  return [
    h("p", { class: "quiet" }, `Request ${row.request_id}, ${full(row.time)}, ${many(row.tokens, "token")}`), block(row), items(row.items),
  ];
}

async function dryRun(entity, question) {
  const row = await get(of(entity, "context"), { query: question, explain: true });
  const left = row.candidates.filter((one) => one.verdict !== "shown");
  return [
    row.block ? h("p", { class: "quiet" }, many(row.tokens, "token")) : h("p", { class: "notice" }, `Nothing would be injected${row.reason ? `: ${row.reason}` : ""}.`),
    block(row), items(row.items),
    left.length > 0 && h("details", {}, h("summary", {}, `${many(left.length, "passage")} weighed and left out`), candidates(left)),
  ];
}

const block = (row) => row.block && h("section", { "aria-label": "The block" }, h("h2", {}, "What the model is told"), h("pre", { class: "block", tabindex: "0" }, row.block));

function items(rows) {
  return rows.length > 0 && table("What it is made of", ["Section", "Kind", "Text", "Score", "Why"],
    rows.map((row) => [row.section, row.kind, row.text, row.score.toFixed(3), reasons(row.reasons)]));
}

function candidates(rows) {
  return table("Weighed and left out", ["Why not", "Kind", "Text", "Score", "Words", "Meaning"],
    rows.map((row) => [row.verdict, row.kind, row.text, row.score.toFixed(3), row.bm25.toFixed(2), row.cosine === null ? "–" : row.cosine.toFixed(3)]));
}

function table(caption, heads, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, h("table", {}, h("caption", {}, caption),
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}
