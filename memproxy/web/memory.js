// What is remembered of a person: open threads, then facts by tag, with a search that answers while one types.

import { get, of, post } from "./api.js";
import { button, fill, field, h, toast, told } from "./dom.js";
import { factCard } from "./fact.js";
import { many } from "./format.js";
import { link } from "./links.js";

const PAUSE = 25; // milliseconds after a key before the search begins; the next key overtakes it
const PAGE = 50; // facts that are drawn at once

export async function view(page, entity) {
  const search = h("input", { type: "search", placeholder: "Search … ( / )", autocomplete: "off", oninput: later });
  const status = h("select", { onchange: () => list() },
    ["current", "historical", "expired", "quarantined"].map((name) => h("option", { value: name }, name)));
  const found = h("div", { class: "groups", "aria-live": "off" });
  const count = h("p", { class: "quiet", role: "status" });
  const noted = h("div");
  let timer, running = new AbortController();

  function later() {
    clearTimeout(timer);
    timer = setTimeout(list, PAUSE);
  }

  /** Draw what the search finds; a newer search overtakes one that is still under way. */
  async function list() {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    try {
      const first = await facts(null, signal);
      if (!signal.aborted) draw(first);
    } catch (error) {
      if (error.name !== "AbortError") fill(found, h("p", { class: "problem", role: "alert" }, told(error)));
    }
  }

  const facts = (cursor, signal) =>
    get(of(entity, "facts"), { group: "tag", query: search.value, status: status.value, limit: PAGE, cursor }, signal);

  function draw({ groups, next_cursor: next }) {
    const shown = groups.reduce((sum, group) => sum + group.items.length, 0);
    fill(count, shown ? `${next ? "The newest " : ""}${many(shown, "fact")}${search.value ? ` with “${search.value}”` : ""}` : nothing());
    fill(found, groups.map((group) => h("section", { "aria-label": group.tag || "untagged" },
      h("h2", {}, group.tag || "untagged", " ", h("small", {}, group.items.length)),
      group.items.map((row) => factCard(entity, row, refresh)))),
      next && h("p", { class: "more" }, button("Show more", () => more(groups, next))));
  }

  async function more(groups, cursor) {
    const { signal } = running;
    const page = await facts(cursor, signal).catch((error) => { if (!signal.aborted) throw error; });
    if (signal.aborted) return; // another search is shown now
    const tags = new Map(groups.map((group) => [group.tag, group.items]));
    for (const group of page.groups) tags.set(group.tag, [...(tags.get(group.tag) ?? []), ...group.items]);
    draw({ groups: [...tags].sort().map(([tag, items]) => ({ tag, items })), next_cursor: page.next_cursor });
  }

  const nothing = () => (search.value ? `Nothing ${status.value} with “${search.value}”.` : `Nothing ${status.value} yet. What is said through the proxy is learned in the background.`);

  async function refresh() {
    await Promise.all([list(), above()]);
  }

  async function above() {
    const [threads, disputes] = await Promise.all([get(of(entity, "threads")), get(of(entity, "contradictions", "counts"))]);
    fill(noted,
      disputes.open > 0 && h("p", { class: "notice" }, h("a", { href: link("disputes", entity) }, `${many(disputes.open, "contradiction")} to decide`)),
      threads.items.length > 0 && h("section", { class: "threads", "aria-label": "Open threads" }, h("h2", {}, "Open threads"),
        threads.items.map((row) => factCard(entity, row, refresh))));
  }

  fill(page, h("h1", {}, "Memory"), adding(entity, refresh),
    h("div", { class: "tools", role: "search" }, field("Search", search), field("Show", status)), noted, count, found);
  await refresh();
  return () => running.abort();
}

function adding(entity, refresh) {
  const text = h("input", { required: true, maxlength: 2000, autocomplete: "off", placeholder: "Is allergic to walnuts" });
  const tag = h("input", { autocomplete: "off", maxlength: 60, placeholder: "medical" });
  const form = h("form", { onsubmit: add }, field("What is to be remembered", text), field("Tag", tag), h("button", { type: "submit", class: "main" }, "Add"));
  const details = h("details", { class: "adding" }, h("summary", {}, "Add a memory"), form);
  async function add(event) {
    event.preventDefault();
    await post(of(entity, "notes"), { text: text.value.trim(), ...(tag.value.trim() && { tag: tag.value.trim() }) });
    toast("Remembered.");
    form.reset();
    await refresh();
  }
  return details;
}
