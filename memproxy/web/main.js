// Which view is shown: the address after # is /view/entity, so that every view can be linked to and gone back from.

import { get } from "./api.js";
import { fill, h, told } from "./dom.js";
import { view as conversations } from "./conversations.js";
import { view as data } from "./data.js";
import { view as disputes } from "./disputes.js";
import { lastSeen, remember } from "./last.js";
import { link, parts } from "./links.js";
import { view as live } from "./live.js";
import { view as memory } from "./memory.js";
import { view as profile } from "./profile.js";
import { view as timeline } from "./timeline.js";
import { view as why } from "./why.js";

const VIEWS = {
  memory: ["Memory", memory],
  disputes: ["Disputes", disputes],
  profile: ["Profile", profile],
  timeline: ["Timeline", timeline],
  conversations: ["Conversations", conversations],
  why: ["Why?", why],
  live: ["Live", live],
  data: ["Data", data],
};
const OF_ONE = new Set(["memory", "disputes", "profile", "timeline", "conversations", "data"]); // views of one person
const SHOWN = 200; // names in the list; others are typed

const main = document.getElementById("content");
const people = document.getElementById("entity");
let leave = () => {};
let showing = 0;

async function known() {
  const { items, next_cursor: more } = await get("entities", { limit: SHOWN });
  return { names: items.map((row) => row.entity), more: Boolean(more) };
}

async function route() {
  const mine = ++showing;
  leave();
  leave = () => {};
  const [name, named, ...rest] = parts();
  const asked = named || undefined;
  const shown = Object.hasOwn(VIEWS, name) ? name : "memory";
  try {
    const { names, more } = await known();
    if (mine !== showing) return;
    const entity = asked ?? remembered(names) ?? names[0] ?? null;
    choices(names, more, entity, shown);
    tabs(shown, entity);
    document.title = `${VIEWS[shown][0]}${entity && OF_ONE.has(shown) ? ` of ${entity}` : ""} · memproxy`;
    const page = h("div", { class: `view ${shown}` });
    const left = entity === null && OF_ONE.has(shown) ? empty(page) : await VIEWS[shown][1](page, entity, rest);
    if (mine !== showing) {
      left?.();
      return;
    }
    leave = left ?? leave;
    fill(main, page);
    if (asked) main.focus({ preventScroll: true });
    if (entity) remember(entity);
  } catch (error) {
    if (mine === showing) fill(main, h("p", { class: "problem", role: "alert" }, told(error)));
  }
}

function remembered(names) {
  const last = lastSeen();
  return names.includes(last) ? last : null;
}

function empty(page) {
  fill(page, h("h1", {}, "Nothing is remembered yet"),
    h("p", {}, "Point an app at this proxy, and talk. What it says and learns will be here:"),
    h("pre", {}, `OPENAI_BASE_URL=${location.origin}/v1`),
    h("p", {}, "A past that is kept elsewhere can be brought along: choose a name above, then Data."));
}

function choices(names, more, entity, shown) {
  const all = entity === null || names.includes(entity) ? names : [entity, ...names];
  fill(people, entity === null && h("option", { value: "", disabled: true, selected: true }, "nobody yet"),
    all.map((name) => h("option", { value: name, selected: name === entity }, name)),
    more && h("option", { value: "", disabled: true }, "…"),
    h("option", { value: "" }, "Another name …"));
  people.onchange = () => {
    const name = people.value || prompt("Whose memory?")?.trim();
    people.value = entity ?? ""; // until that one's is shown
    if (name) location.hash = link(OF_ONE.has(shown) ? shown : "memory", name);
  };
}

function tabs(shown, entity) {
  fill(document.getElementById("views"), Object.entries(VIEWS).map(([name, [label]]) =>
    h("a", { href: entity ? link(name, entity) : `#/${name}`, "aria-current": name === shown && "page" }, label)));
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select, dialog")) return;
  const search = document.querySelector('input[type="search"]');
  if (search) {
    event.preventDefault();
    search.focus();
  }
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", route);
route();
