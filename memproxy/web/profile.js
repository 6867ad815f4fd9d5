// The profile: fields with their entries, each of which can be added and taken out.

import { get, of, patch } from "./api.js";
import { button, field, fill, h, toast } from "./dom.js";
import { day } from "./format.js";

export async function view(page, entity) {
  const list = h("div");

  async function change(deed, said) {
    await patch(of(entity, "profile"), deed);
    toast(said);
    await refresh();
  }

  async function refresh() {
    const { fields } = await get(of(entity, "profile"));
    fill(list, Object.entries(fields).map(([name, entries]) => h("section", { class: "field-of-profile", "aria-label": name },
      h("h2", {}, name.replaceAll("_", " ")),
      entries.length === 0 && h("p", { class: "quiet" }, "Nothing yet."),
      h("ul", {}, entries.map((entry) => h("li", {}, shown(entry),
        h("small", { class: "quiet" }, ` since ${day(entry.recorded_at)}${entry.fact_id ? ", from a fact" : ""} `),
        button("Take out", () => change({ remove: { [name]: [entry.value.name ?? entry.key] } }, "Taken out."), { "aria-label": `Take out ${shown(entry)}` })))))));
  }

  const name = h("input", { required: true, pattern: "[a-z][a-z0-9_]*", placeholder: "languages", autocomplete: "off" });
  const entry = h("input", { required: true, placeholder: "Portuguese", autocomplete: "off" });
  async function add(event) {
    event.preventDefault();
    await change({ add: { [name.value.trim()]: [entry.value.trim()] } }, "Added.");
    entry.value = "";
  }
  fill(page, h("h1", {}, "Profile"), list,
    h("form", { onsubmit: add, class: "inline" }, field("Field", name), field("Entry", entry), h("button", { type: "submit", class: "main" }, "Add")));
  await refresh();
}

function shown(entry) {
  const { value } = entry;
  if (typeof value === "string") return value;
  return Object.values(value).filter(Boolean).join(", ");
}
