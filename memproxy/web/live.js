// What happens now: requests as they pass through, the background work, what was spent and refused, and how it grows.

import { get, of, post } from "./api.js";
import { button, fill, h, toast, told } from "./dom.js";
import { factCard } from "./fact.js";
import { clock, full, many } from "./format.js";
import { link } from "./links.js";
import { plot } from "./plot.js";

const KEPT = 200; // requests on the page
const WAIT = 20; // seconds that a question for news stays open

export async function view(page, entity) {
  const rows = h("tbody"), tiles = h("div", { class: "tiles" }), latency = h("div"), growth = h("div", { class: "plots" }), queue = h("div"), clean = h("div");
  const state = h("p", { class: "quiet", role: "status" });
  const seen = [];
  const stop = new AbortController();

  async function follow() {
    let after = 0;
    while (!stop.signal.aborted) {
      try {
        const { items, next } = await get("live", { after, wait: after ? WAIT : 0 }, stop.signal);
        fill(state, "Listening.");
        after = next || after;
        if (items.length) {
          seen.push(...items);
          seen.splice(0, seen.length - KEPT);
          rows.prepend(...items.map(request).reverse());
          while (rows.childElementCount > KEPT) rows.lastElementChild.remove();
          await around();
        } else if (!after) await pause(stop.signal, 1000);
      } catch (error) {
        if (stop.signal.aborted) return;
        fill(state, `${told(error)}. Trying again.`);
        if (error.status === 403) return;
        await pause(stop.signal, 3000);
      }
    }
  }

  async function around() {
    const [stats, jobs] = await Promise.all([get("stats"), get("jobs", { state: "dead,running,pending" })]);
    fill(tiles, figures(stats));
    fill(queue, h("h2", {}, "Background work"), jobs.items.length ? h("ul", { class: "jobs" }, jobs.items.map((row) => job(row, around))) : h("p", { class: "quiet" }, "Nothing waits."));
    fill(latency, plot("Memory's own time, request by request", seen.filter((row) => row.ms !== null).map((row) => [clock(row.time), row.ms]), " ms"));
  }

  /** How a memory has grown and how tidy it is: looked at once, since it takes the server some work. */
  async function condition() {
    const [{ days }, hygiene] = await Promise.all([get(of(entity, "growth"), { days: 90 }), get(of(entity, "hygiene"))]);
    fill(growth, plot(`Turns of ${entity}, day by day`, days.map((row) => [row.day, row.turns])), plot(`Facts of ${entity}, day by day`, days.map((row) => [row.day, row.facts])));
    fill(clean, tidiness(entity, hygiene));
  }

  fill(page, h("h1", {}, "Live"), state, tiles,
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Requests" }, h("table", {}, h("caption", {}, "Requests, newest first"),
      h("thead", {}, h("tr", {}, ["Time", "Whose", "Format", "Status", "Memory", "Items", "Tokens", "Memory ms", "First byte ms"].map((head) => h("th", { scope: "col" }, head)))), rows)),
    latency, queue, clean, growth);
  try {
    await around();
    follow();
    if (entity) condition().catch((error) => { if (!stop.signal.aborted) fill(clean, h("p", { class: "problem", role: "alert" }, told(error))); });
  } catch (error) {
    fill(state, told(error));
  }
  return () => stop.abort();
}

function pause(signal, time) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

function request(row) {
  const cells = [
    h("time", { datetime: row.time, title: full(row.time) }, clock(row.time)), row.entity ?? "–", row.format ?? "–", row.status ?? "–",
    row.memory === "injected" ? h("a", { href: link("why", row.entity ?? "", row.request_id) }, "injected") : `${row.memory ?? "–"}${row.reason ? `: ${row.reason}` : ""}`,
    row.items ?? "–", row.tokens ?? "–", short(row.ms), short(row.ttfb_ms),
  ];
  return h("tr", {}, cells.map((cell) => h("td", {}, cell)));
}

function figures({ queue, today, since_start: since, latency, rss_bytes: rss, store_bytes: store, uptime_seconds: uptime }) {
  const waiting = (state) => Object.values(queue).reduce((sum, states) => sum + (states[state] ?? 0), 0);
  const counted = (by) => Object.entries(by ?? {}).filter(([, count]) => count).map(([name, count]) => `${name} ${count}`).join(", ") || "none";
  const tile = (label, value) => h("div", { class: "tile" }, h("strong", {}, value), h("span", {}, label));
  return [
    tile("jobs waiting · running · failed", ["pending", "running", "dead"].map(waiting).join(" · ")),
    tile("model calls today", `${today.calls} of ${today.calls_limit}`),
    tile("tokens today", (today.input_tokens + today.output_tokens).toLocaleString("en")),
    today.cost !== null && tile("spent today", `$${today.cost.toFixed(4)}`),
    latency.memory_ms?.p50 !== undefined && tile("memory p50 · p99", `${short(latency.memory_ms.p50)} · ${short(latency.memory_ms.p99)} ms`),
    tile("memory of the process · database", `${megabytes(rss)} · ${megabytes(store)} MB`),
    tile("running", `${Math.round(uptime / 60)} min`),
    tile("injected", since.injected.toLocaleString("en")),
    tile("skipped, by reason", counted(since.skipped)),
    tile("not stored, by reason", counted(since.rejected)),
  ];
}

const short = (ms) => (ms === null || ms === undefined ? "–" : ms.toFixed(1));

const megabytes = (bytes) => Math.round((bytes ?? 0) / 1e6).toLocaleString("en");

function job(row, again) {
  return h("li", { class: row.state }, h("span", { class: "mark" }, row.state), ` ${row.kind} of ${row.entity ?? "–"}, `, full(row.due_at ?? row.created_at),
    row.error && h("code", {}, ` ${row.error} `),
    row.state === "dead" && button("Try again", async () => {
      await post(`jobs/${encodeURIComponent(row.id)}/retry`);
      toast("It runs again.");
      await again();
    }));
}

const CONDITIONS = {
  duplicates: ["group", "of facts that say nearly the same"], stale: ["fact", "not heard of for long"], never_recalled: ["fact", "never recalled"],
  expired: ["fact", "whose time is over"], quarantined: ["fact", "shaped like an instruction: stored, never recalled"],
};

function tidiness(entity, found) {
  const lines = Object.entries(CONDITIONS).filter(([name]) => found[name].count).map(([name, [noun, told]]) => {
    const { count, ids = [], groups = ids.map((id) => [id]) } = found[name];
    return facts(entity, `${many(count, noun)} ${told}`, groups.flat());
  });
  return [h("h2", {}, `How tidy ${entity}'s memory is`), lines.length ? lines : h("p", { class: "quiet" }, "Nothing stands out.")];
}

/** A fact that was forgotten since it was counted is none; what else fails is told. */
function gone(error) {
  if (error.status !== 404) throw error;
}

/** Facts behind a heading, read when it is opened. */
function facts(entity, title, ids) {
  const inside = h("div");
  const details = h("details", { ontoggle: async () => {
    if (!details.open || inside.hasChildNodes()) return;
    const rows = await Promise.all(ids.map((id) => get(of(entity, "facts", id)).catch(gone)));
    fill(inside, rows.filter(Boolean).map((row) => factCard(entity, row, () => {})));
  } }, h("summary", {}, title), inside);
  return details;
}
