// One fact: what it says, how far it is to be trusted, what stands behind it, and all that a person can do with it.

import { get, of, post, remove } from "./api.js";
import { button, confirmed, field, fill, h, toast } from "./dom.js";
import { ago, day, full, many, percent } from "./format.js";

/** A fact as an article; `changed()` is called when the list it stands in is no longer what the memory holds. */
export function factCard(entity, row, changed) {
  const path = (...more) => of(entity, "facts", row.id, ...more);
  const card = h("article", { class: `fact ${row.status}`, "aria-label": row.text });
  const act = (verb, done) => button(done.label, async () => {
    await post(path(verb));
    again(await get(path("history")));
    toast(done.said);
  });

  /** Show it as it is now, and let who uses the keyboard go on where they are. */
  function again(now) {
    const at = [...card.querySelectorAll("button")].indexOf(document.activeElement);
    show(now);
    card.querySelectorAll("button")[at]?.focus();
  }

  function show(now) {
    row = { ...row, ...now };
    const current = row.status === "current";
    fill(card,
      h("p", { class: "text" }, row.pinned && h("span", { class: "pin", title: "Pinned" }, "📌 "), row.text),
      h("p", { class: "marks" }, marks(row)),
      h("div", { class: "foot" }, behind(), h("div", { class: "actions" },
        current && button("Correct", () => edit()),
        current && act("confirm", { label: "Confirm", said: "Confirmed: it is so." }),
        current && (row.pinned
          ? act("unpin", { label: "Unpin", said: "No longer pinned." })
          : act("pin", { label: "Pin", said: "Pinned: kept in view whatever is asked." })),
        current && row.thread_status === "open" && act("resolve", { label: "Resolve", said: "Settled." }),
        button("Forget", forget),
        button("Deny", deny, { class: "danger", title: "Erase it and never learn it again" }))));
  }

  function behind() {
    const inside = h("div", { class: "behind" });
    const details = h("details", { ontoggle: load }, h("summary", {}, "Where this comes from"), inside);
    async function load() {
      if (details.open && !inside.hasChildNodes()) fill(inside, origin(await get(path("history"))));
    }
    return details;
  }

  function edit() {
    const text = h("textarea", { rows: "2", required: true }, row.text);
    const form = h("form", { class: "edit", onsubmit: save }, field("What is right", text),
      h("div", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Save"),
        button("Cancel", () => { show({}); card.querySelector("button")?.focus(); })));
    async function save(event) {
      event.preventDefault();
      const stop = form.querySelector('[type="submit"]');
      stop.disabled = true;
      try {
        const now = await post(path("correct"), { text: text.value.trim() });
        toast("Corrected. The earlier wording is kept in its history.");
        if (now.id === row.id) show(now);
        changed();
      } finally {
        stop.disabled = false;
      }
    }
    fill(card, form);
    text.focus();
    text.select();
  }

  async function forget() {
    await remove(path());
    card.remove();
    toast("Forgotten.", { undo: async () => { await post(path("restore")); changed(); } });
  }

  async function deny() {
    const sure = await confirmed("Deny this?", `“${row.text}” is erased for good, and not learned again.`, "Deny");
    if (!sure) return;
    await post(path("deny"));
    card.remove();
    toast("Denied: erased, and not learned again.");
  }

  show({});
  return card;
}

function marks(row) {
  const said = row.reference_time ?? row.recorded_at;
  return [
    row.label && h("span", { class: `mark ${row.label}` }, row.label),
    row.status !== "current" && row.status !== row.label && h("span", { class: "mark" }, row.status),
    row.thread_status === "open" && h("span", { class: "mark open" }, "open thread"),
    h("span", { title: "How sure it is" }, h("meter", { value: row.confidence, min: 0, max: 1, "aria-label": "Confidence" }), ` ${percent(row.confidence)}`),
    h("time", { datetime: said, title: full(said) }, ago(said)),
    row.valid_until && h("span", {}, `until ${day(row.valid_until)}`),
    row.expires_at && row.status === "current" && h("span", {}, `fades ${ago(row.expires_at)}`),
    row.reinforced_count > 1 && h("span", {}, `said ${many(row.reinforced_count, "time")}`),
    h("span", {}, row.recall_count ? `recalled ${many(row.recall_count, "time")}` : "never recalled"),
  ].filter(Boolean).flatMap((mark, at) => (at ? [" ", mark] : [mark]));
}

function origin(row) {
  return [
    row.quote && h("blockquote", {}, row.quote),
    h("p", { class: "quiet" }, {
      user: "The person's own word", extracted: "Learned from what the person said", inferred: "Taken from what the assistant said",
    }[row.source], row.turn ? ` on ${full(row.turn.time)}.` : "."),
    row.turn && h("details", {}, h("summary", {}, "The whole message"), h("p", { class: "said" }, row.turn.content)),
    row.repetitions.length > 0 && h("p", { class: "quiet" }, `Said again on ${row.repetitions.map((one) => day(one.time)).join(", ")}.`),
    row.supersedes.map((other) => h("p", {}, "Before: ", h("del", {}, other.text), ` (${day(other.valid_from ?? other.superseded_at)})`)),
    row.superseded_by_fact && h("p", {}, "Since then: ", h("ins", {}, row.superseded_by_fact.text)),
    row.history.length > 0 && h("ol", { class: "history", "aria-label": "History" }, row.history.map((entry) =>
      h("li", {}, h("time", { datetime: entry.time }, full(entry.time)), ` ${entry.kind}`, entry.reason && ` (${entry.reason})`, changes(entry)))),
  ];
}

const TOLD = ["text", "status", "confidence", "pinned", "valid_until", "thread_status", "tag"];

function changes({ before, after }) {
  const moved = TOLD.filter((name) => name in after && String(before[name] ?? "") !== String(after[name] ?? "") && before[name] !== undefined);
  return moved.map((name) => h("span", { class: "change" }, ` ${name}: `, h("del", {}, String(before[name] ?? "none")), " → ", h("ins", {}, String(after[name] ?? "none"))));
}
