// Addresses of views: /view/entity and what a view shows of it, after the #.

export function link(view, entity, ...rest) {
  return `#/${[view, entity, ...rest].map(encodeURIComponent).join("/")}`;
}

/** The parts of the address that the page stands at; "" where one is empty. */
export function parts() {
  return location.hash.replace(/^#\/?/, "").split("/").map(decoded);
}

/** What somebody typed after the # need not be percent-encoded; then it is taken as it stands. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
