// Where the memory disagrees with itself: both sides, and a decision.

import { get, of, post } from "./api.js";
import { button, fill, h, toast } from "./dom.js";
import { full, many } from "./format.js";

export async function view(page, entity) {
  const list = h("div");
  const kept = h("div");

  async function refresh() {
    const [contradictions, held, collisions] = await Promise.all([
      get(of(entity, "contradictions")), get(of(entity, "contradictions"), { status: "held" }), get(of(entity, "collisions")),
    ]);
    const standing = collisions.items.filter((row) => row.status === "open");
    fill(list, contradictions.items.map((row) => contradiction(entity, row, refresh)), standing.map((row) => collision(entity, row, refresh)),
      contradictions.items.length + standing.length === 0 && h("p", { class: "quiet" }, "Nothing is in dispute."));
    fill(kept, held.items.length > 0 && [h("h2", {}, "Left be"), held.items.map((row) => contradiction(entity, row, refresh))]);
  }

  fill(page, h("h1", {}, "Disputes"),
    h("p", { class: "lead" }, "Two things that cannot both be true. Nothing is changed until you decide."), list, kept);
  await refresh();
}

function contradiction(entity, row, refresh) {
  const decide = (decision, label, said, more = {}) => button(label, async () => {
    await post(of(entity, "contradictions", row.id, "resolve"), { decision });
    toast(said);
    await refresh();
  }, more);
  return h("article", { class: "dispute", "aria-label": `${row.stored} or ${row.stated}` },
    h("div", { class: "sides" },
      h("section", { "aria-label": "What is stored" }, h("h3", {}, "What is stored"), h("p", { class: "text" }, row.stored)),
      h("section", { "aria-label": "What was said" }, h("h3", {}, "What was said"), h("p", { class: "text" }, row.stated))),
    h("p", { class: "quiet" }, `Noticed ${full(row.created_at)}${row.repeat_count > 1 ? `, ${many(row.repeat_count, "time")}` : ""}${row.gate_reason ? `: ${row.gate_reason}` : ""}.`),
    h("div", { class: "actions" },
      decide("stored", "Keep what is stored", "Kept."),
      decide("user_stated", "Take what was said", "Taken over."),
      decide("neither", "Neither is right", "Neither holds now."),
      row.status === "open" && button("Leave it", async () => {
        await post(of(entity, "contradictions", row.id, "hold"));
        toast("Left be until one of them changes.");
        await refresh();
      })));
}

function collision(entity, row, refresh) {
  const settle = (side) => button(`“${side}” is right`, async () => {
    await post(of(entity, "collisions", row.id, "settle"), { side });
    toast("Settled. No fact was changed.");
    await refresh();
  });
  return h("article", { class: "dispute", "aria-label": `${row.family}: ${Object.keys(row.sides).join(" or ")}` },
    h("h3", {}, `${row.subject || "The person"}: ${row.family}`),
    h("div", { class: "sides" }, Object.entries(row.sides).map(([side, facts]) =>
      h("section", { "aria-label": side }, h("h3", {}, side), facts.map((fact) => h("p", { class: "text" }, fact.text)), settle(side)))));
}
