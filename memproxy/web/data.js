// Take away, bring, choose, erase.

import { address, get, of, put, remove, send } from "./api.js";
import { button, confirmed, field, fill, h, toast, told } from "./dom.js";
import { day, many } from "./format.js";
import { remember } from "./last.js";

export async function view(page, entity) {
  const [counts, wanted, denied] = await Promise.all([get(of(entity)), get(of(entity, "preferences")), get(of(entity, "denied"))]);
  fill(page, h("h1", {}, "Data"),
    h("p", { class: "lead" }, `${many(counts.turns ?? 0, "turn")} and ${many(counts.facts ?? 0, "fact")} are stored of ${entity}.`),
    taking(entity), bringing(entity), choosing(entity, wanted), denials(entity, denied.items), erasing(entity));
}

const section = (title, ...inside) => h("section", { "aria-label": title }, h("h2", {}, title), ...inside);

function taking(entity) {
  const away = (format, label) => h("a", { class: "button", href: address(of(entity, "export"), { format }), download: "" }, label);
  return section("Take it with you", h("p", {}, "All of it, with sources, history and dates. JSONL can be brought into another memproxy."),
    h("div", { class: "actions" }, away("jsonl", "Export as JSONL"), away("markdown", "Export to read (Markdown)")));
}

function bringing(entity) {
  const file = h("input", { type: "file", accept: ".json,.jsonl,.zip", onchange: preview });
  const report = h("div", { "aria-live": "polite" });
  const path = of(entity, "import");

  async function preview() {
    fill(report, file.files.length > 0 && h("p", { class: "quiet" }, "Reading …"));
    if (!file.files.length) return;
    try {
      const found = await send(path, { dry_run: true }, file.files[0]);
      fill(report, h("h3", {}, "This would be brought in"), report_of(found),
        h("div", { class: "actions" }, found.formats.length > 0 && button("Bring it in", bring, { class: "main" }), button("Cancel", () => { file.value = ""; fill(report); })));
    } catch (error) {
      fill(report, h("p", { class: "problem", role: "alert" }, told(error)));
    }
  }

  async function bring() {
    const done = await send(path, { dry_run: false }, file.files[0]);
    fill(report, h("h3", {}, "Brought in"), report_of(done));
    file.value = "";
    toast("Brought in. What is new is being indexed.");
  }

  return section("Bring a memory", h("p", {}, "An export of ChatGPT, Claude, mem0, Zep, OpenMemory or memproxy, or messages as JSON. You see what is in it before anything is stored."),
    field("File", file), report);
}

/** What a file holds, or what came of it: counts, dates, and each thing that could not be read. */
function report_of(found) {
  const counts = [many(found.conversations, "conversation"), many(found.turns, "turn"), many(found.facts, "fact"),
    ...Object.entries(found.others).map(([kind, count]) => `${count} ${kind}`)];
  return [
    h("p", {}, found.formats.length ? `${found.formats.join(", ")}: ${counts.join(", ")}` : "Nothing in it was recognised.",
      found.from && `, from ${day(found.from)} to ${day(found.until)}`, "."),
    found.new && h("p", {}, `New of it: ${many(found.new.turns, "turn")}, ${many(found.new.facts, "fact")}.`),
    found.left_out > 0 && h("p", {}, `Left out, since what they belong to could not be read: ${found.left_out}.`),
    found.skipped_total > 0 && h("details", { open: !found.formats.length }, h("summary", {}, `Could not be read: ${found.skipped_total}`),
      h("ul", {}, found.skipped.map((one) => h("li", {}, h("code", {}, one.where), ` ${one.reason}`)))),
  ];
}

const WISHES = { memory: "Remember and recall at all", learning: "Learn facts from what is said", patterns: "Learn habits" };

function choosing(entity, wanted) {
  const tags = h("input", { placeholder: "health, politics", autocomplete: "off",
    onchange: () => save({ excluded_tags: tags.value.split(",").map((tag) => tag.trim()).filter(Boolean) }) });
  const boxes = Object.entries(WISHES).map(([name, label]) =>
    [name, label, h("input", { type: "checkbox", onchange: (event) => save({ [name]: event.target.checked }) })]);

  function show() {
    tags.value = wanted.excluded_tags.join(", ");
    for (const [name, , box] of boxes) box.checked = wanted[name];
  }

  /** Only what was changed here: another page may have changed the rest. What holds then is shown, also where it failed. */
  async function save(change) {
    try {
      wanted = await put(of(entity, "preferences"), change);
      toast("Kept from now on. What is there stays.");
    } finally {
      show();
    }
  }

  show();
  return section("What is wanted",
    boxes.map(([, label, box]) => h("label", { class: "check" }, box, ` ${label}`)),
    field("Never learn facts with these tags", tags));
}

function denials(entity, rows) {
  return rows.length > 0 && section("Denied", h("p", { class: "quiet" }, "Of what was denied nothing is kept but that it is not to be learned again."),
    h("ul", {}, rows.map((row) => {
      const line = h("li", {}, `denied on ${day(row.denied_at)} `, button("Allow again", async () => {
        await remove(of(entity, "denied", row.id));
        line.remove();
        toast("It may be learned again.");
      }));
      return line;
    })));
}

function erasing(entity) {
  return section("Erase", h("p", {}, "Everything of this person, for good: turns, facts, summaries, receipts. It cannot be undone."),
    button("Erase everything …", async () => {
      if (!(await confirmed(`Erase all of ${entity}?`, "Turns, facts, summaries, receipts and history are removed for good.", "Erase", entity))) return;
      const { deleted } = await remove(of(entity));
      toast(`Erased: ${Object.entries(deleted).filter(([, count]) => count).map(([kind, count]) => `${count} ${kind}`).join(", ") || "nothing was there"}.`);
      remember(null);
      location.hash = "#/memory";
    }, { class: "danger" }));
}
