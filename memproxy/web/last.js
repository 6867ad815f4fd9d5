// Whose memory was looked at last, as far as the browser keeps anything for this page.

const NAME = "entity";

export function lastSeen() {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null; // nothing may be kept here
  }
}

/** Null: nobody's. */
export function remember(entity) {
  try {
    if (entity === null) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, entity);
  } catch {
    // Nothing may be kept here: the page begins with the first name the next time.
  }
}
