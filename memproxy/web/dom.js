// Elements from plain values. Text only ever becomes text: nothing here or elsewhere parses markup.

/** An element: attributes by name, `on…` as listeners, `true` and `false` as attributes that are there or not. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...nodes(children));
  return element;
}

/** The same for drawings. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, attributes);
  element.append(...nodes(children));
  return element;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), telling(value));
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
}

/** Do it; whatever fails in it is told, so that nothing that a person does can come to nothing in silence. */
function telling(action) {
  return async (event) => {
    try {
      await action(event);
    } catch (error) {
      toast(told(error), { kind: "problem" });
    }
  };
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Put these in the place of all that is in an element. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/** A button that cannot be pressed twice while what it does is under way. It keeps the focus: `disabled` would lose it. */
export function button(label, action, attributes = {}) {
  const element = h("button", { type: "button", ...attributes, onclick: press }, label);
  async function press(event) {
    if (element.ariaDisabled === "true") return;
    element.ariaDisabled = "true";
    try {
      await action(event);
    } finally {
      element.ariaDisabled = null;
    }
  }
  return element;
}

/** A labelled control. */
export function field(label, control) {
  return h("label", { class: "field" }, h("span", {}, label), control);
}

/** What went wrong, for a person to read. */
export function told(error) {
  return error.detail ? `${error.message}. ${error.detail}` : error.message;
}

/** Say something in passing, with a way back where there is one. */
export function toast(text, { kind = "done", undo = null } = {}) {
  const note = h("div", { class: `toast ${kind}` }, h("span", {}, text));
  const close = () => note.remove();
  if (undo) note.append(button("Undo", async () => { await undo(); close(); }));
  note.append(button("×", close, { "aria-label": "Dismiss", class: "plain" }));
  document.getElementById("toasts").append(note);
  setTimeout(close, undo || kind === "problem" ? 20000 : 5000);
}

/** Ask before something that cannot be undone; with `typed`, only when that word was written. Resolves to a boolean. */
export function confirmed(title, text, act, typed = null) {
  return new Promise((resolve) => {
    const word = typed ? h("input", { autocomplete: "off", spellcheck: "false" }) : null;
    const go = h("button", { type: "submit", class: "danger", value: "yes", disabled: typed !== null }, act);
    if (word) word.addEventListener("input", () => { go.disabled = word.value !== typed; });
    const dialog = h("dialog", { "aria-label": title, onclose: done },
      h("form", { method: "dialog" },
        h("h2", {}, title), h("p", {}, text),
        word && field(`Write “${typed}” to confirm`, word),
        h("div", { class: "actions" }, go, h("button", { type: "submit", value: "no", formnovalidate: true }, "Cancel"))));
    function done() {
      dialog.remove();
      resolve(dialog.returnValue === "yes" && (!word || word.value === typed));
    }
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A list that goes on as long as there is more: `page(cursor)` gives `{nodes, next}`. */
export function paged(container, page, more = "Show more") {
  const next = h("p", { class: "more" });
  const show = async (cursor) => {
    const { nodes: found, next: after } = await page(cursor);
    container.append(...nodes(found));
    fill(next, after && button(more, () => show(after)));
  };
  container.after(next);
  return show(null);
}
