// Conversations, and in each what was said and what was injected into the requests.

import { get, of, remove } from "./api.js";
import { button, confirmed, fill, h, paged, toast } from "./dom.js";
import { ago, full, many } from "./format.js";
import { link } from "./links.js";
import { receiptOf } from "./why.js";

export async function view(page, entity, [session]) {
  if (session) return one(page, entity, session);
  const list = h("ul", { class: "conversations" });
  fill(page, h("h1", {}, "Conversations"), list);
  await paged(list, async (cursor) => {
    const { items, next_cursor: next } = await get(of(entity, "sessions"), { limit: 50, cursor });
    const nodes = items.map((row) => h("li", {},
      h("a", { href: link("conversations", entity, row.id) }, row.title || row.name || "Without words"),
      h("p", { class: "quiet" }, h("time", { datetime: row.last_at, title: full(row.last_at) }, ago(row.last_at)), ` · ${many(row.turns, "turn")}${row.name ? ` · ${row.name}` : ""}`)));
    if (!items.length && !cursor) nodes.push(h("p", { class: "quiet" }, "No conversation yet."));
    return { nodes, next };
  });
}

async function one(page, entity, session) {
  const list = h("div", { class: "turns" });
  fill(page, h("p", {}, h("a", { href: link("conversations", entity) }, "← All conversations")), h("h1", {}, "Conversation"), list);
  const receipts = (await get(of(entity, "receipts"), { session, limit: 500 })).items.reverse();
  await paged(list, async (cursor) => {
    const { items, next_cursor: next } = await get(of(entity, "turns"), { session, limit: 100, cursor });
    const asked = items.filter((turn) => turn.role === "user");
    const nodes = items.flatMap((turn) => {
      const following = asked[asked.indexOf(turn) + 1];
      const got = turn.role === "user" && (following || !next) ? before(receipts, following) : [];
      return [said(entity, turn), ...got.map(injected)];
    });
    return { nodes, next };
  }, "Show what was said next");
}

/** Take the receipts of what was asked before a turn; of all, where none follows. */
function before(receipts, turn) {
  const count = turn ? receipts.filter((row) => new Date(row.time) < new Date(turn.time)).length : receipts.length;
  return receipts.splice(0, count);
}

function said(entity, turn) {
  const box = h("article", { class: `turn ${turn.role}`, "aria-label": `${turn.name ?? turn.role}, ${full(turn.time)}` },
    h("header", { class: "quiet" }, h("span", {}, h("strong", {}, turn.name ?? { user: "The person", assistant: "The assistant" }[turn.role] ?? turn.role), " ",
      h("time", { datetime: turn.time }, full(turn.time)), !turn.complete && " · broke off"),
      button("Remove", async () => {
        if (!(await confirmed("Remove this turn?", "It is removed for good, with the facts that stand on it.", "Remove"))) return;
        await remove(of(entity, "turns", turn.id));
        box.remove();
        toast("Removed for good.");
      }, { class: "plain" })),
    h("p", { class: "said" }, turn.content));
  return box;
}

function injected(row) {
  const inside = h("div");
  const details = h("details", { class: "injected", ontoggle: async () => {
    if (details.open && !inside.hasChildNodes()) fill(inside, await receiptOf(row.request_id));
  } }, h("summary", {}, `Injected here: ${many(row.items, "memory").replace("memorys", "memories")}, ${many(row.tokens, "token")}`), inside);
  return details;
}
