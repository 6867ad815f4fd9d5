// What happened when: facts and summaries by their dates, a heading a month.

import { get, of } from "./api.js";
import { fill, h, paged } from "./dom.js";
import { day } from "./format.js";

const MONTH = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });

export async function view(page, entity) {
  const list = h("div", { class: "timeline" });
  fill(page, h("h1", {}, "Timeline"), list);
  let month = null, events = null;
  await paged(list, async (cursor) => {
    const { items, next_cursor: next } = await get(of(entity, "timeline"), { limit: 100, order: "newest", cursor });
    const nodes = [];
    for (const item of items) {
      const title = MONTH.format(new Date(item.time));
      if (title !== month) {
        month = title;
        events = h("ol", { "aria-label": title });
        nodes.push(h("h2", {}, title), events);
      }
      events.append(h("li", { class: item.status ?? "" }, h("time", { datetime: item.time }, day(item.time)), " ",
        h("span", { class: "mark" }, item.kind), " ", h("span", { class: "text" }, item.text),
        item.by && h("span", { class: "quiet" }, " → ", h("span", { class: "text" }, item.by.text)),
        item.status && item.status !== "current" && h("span", { class: "quiet" }, ` (${item.status})`)));
    }
    if (!items.length && !cursor) nodes.push(h("p", { class: "quiet" }, "Nothing with a date yet."));
    return { nodes, next };
  });
}
