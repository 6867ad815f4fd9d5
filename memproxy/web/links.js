// Addresses of views: /view/entity and what a view shows of it, after the #.

export function link(view, entity, ...rest) {
  return `#/${[view, entity, ...rest].map(encodeURIComponent).join("/")}`;
}

/** The parts of the address that the page stands at. */
export function parts() {
  return location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
}
