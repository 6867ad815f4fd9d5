// What happens now: requests as they pass through, the background work, what was spent and refused, and how it grows.

import { get, of, post } from "./api.js";
import { button, fill, h, toast, told } from "./dom.js";
import { clock, full, many } from "./format.js";
import { link } from "./links.js";
import { plot } from "./plot.js";

const KEPT = 200; // requests on the page
const WAIT = 20; // seconds that a question for news stays open

export async function view(page, entity) {
  const rows = h("tbody"), tiles = h("div", { class: "tiles" }), plots = h("div", { class: "plots" }), queue = h("div"), clean = h("div");
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
    const [stats, jobs, growth, hygiene] = await Promise.all([
      get("stats"), get("jobs", { state: "dead,running,pending" }), entity ? get(of(entity, "growth"), { days: 90 }) : { items: [] },
      entity ? get(of(entity, "hygiene")) : null,
    ]);
    fill(tiles, figures(stats));
    fill(queue, h("h2", {}, "Background work"), jobs.items.length ? h("ul", { class: "jobs" }, jobs.items.map((row) => job(row, around))) : h("p", { class: "quiet" }, "Nothing waits."));
    fill(plots,
      plot("Memory's own time, request by request", seen.filter((row) => row.ms !== null).map((row) => [clock(row.time), row.ms]), " ms"),
      entity && plot(`Turns of ${entity}, day by day`, growth.items.map((row) => [row.day, row.turns])),
      entity && plot(`Facts of ${entity}, day by day`, growth.items.map((row) => [row.day, row.facts])));
    fill(clean, hygiene && tidiness(entity, hygiene));
  }

  fill(page, h("h1", {}, "Live"), state, tiles,
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Requests" }, h("table", {}, h("caption", {}, "Requests, newest first"),
      h("thead", {}, h("tr", {}, ["Time", "Whose", "Format", "Status", "Memory", "Items", "Tokens", "Memory ms", "First byte ms"].map((head) => h("th", { scope: "col" }, head)))), rows)),
    queue, clean, plots);
  try {
    await around();
    follow();
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
    row.items ?? "–", row.tokens ?? "–", row.ms ?? "–", row.ttfb_ms ?? "–",
  ];
  return h("tr", {}, cells.map((cell) => h("td", {}, cell)));
}

function figures(stats) {
  const counted = (of) => Object.entries(of ?? {}).filter(([, count]) => count).map(([name, count]) => `${name} ${count}`).join(", ") || "none";
  const { today = {}, queue = {}, latency = {} } = stats;
  const tile = (label, value) => h("div", { class: "tile" }, h("strong", {}, value), h("span", {}, label));
  return [
    tile("waiting, running, failed", `${queue.pending ?? 0} · ${queue.running ?? 0} · ${queue.dead ?? 0}`),
    tile("model calls today", today.budget ? `${today.calls} of ${today.budget}` : String(today.calls ?? 0)),
    tile("tokens today", ((today.input_tokens ?? 0) + (today.output_tokens ?? 0)).toLocaleString("en")),
    today.cost !== undefined && today.cost !== null && tile("spent today", `$${today.cost.toFixed(4)}`),
    tile("memory p50 · p99", latency.memory_ms ? `${latency.memory_ms.p50} · ${latency.memory_ms.p99} ms` : "–"),
    tile("skipped", counted(stats.skipped)),
    tile("not stored, by reason", counted(stats.rejected)),
  ];
}

function job(row, again) {
  return h("li", { class: row.state }, h("span", { class: "mark" }, row.state), ` ${row.kind} of ${row.entity ?? "–"}, `, full(row.due_at ?? row.created_at),
    row.error && h("code", {}, ` ${row.error} `),
    row.state === "dead" && button("Try again", async () => {
      await post(`jobs/${encodeURIComponent(row.id)}/retry`);
      toast("It runs again.");
      await again();
    }));
}

function tidiness(entity, of) {
  const words = { duplicates: "say nearly the same", stale: "not heard of for long", never_recalled: "never recalled", expired: "expired", quarantined: "shaped like an instruction, never recalled" };
  const lines = Object.entries(words).filter(([name]) => of[name]?.count);
  return [h("h2", {}, `How tidy ${entity}'s memory is`), lines.length
    ? h("ul", {}, lines.map(([name, told]) => h("li", {}, `${many(of[name].count, "fact")} ${told}`)))
    : h("p", { class: "quiet" }, "Nothing stands out.")];
}
