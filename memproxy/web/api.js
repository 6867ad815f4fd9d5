// Calls to the management API. Writes carry the token that this page was handed out with.

const TOKEN = document.querySelector('meta[name="memproxy-token"]').content;

/** What the API answered instead (RFC 9457). */
export class Problem extends Error {
  constructor(status, { title, detail } = {}) {
    super(title || `The server answered with status ${status}`);
    this.status = status;
    this.detail = detail;
  }
}

async function call(method, path, { query = {}, body, signal, raw } = {}) {
  const url = address(path, query);
  const headers = method === "GET" ? {} : { "X-MemG-Page": TOKEN };
  if (body !== undefined && !raw) headers["Content-Type"] = "application/json";
  const answer = await fetch(url, { method, headers, signal, body: raw ? body : body && JSON.stringify(body) }).catch((error) => {
    throw error.name === "AbortError" ? error : new Problem(0, { title: "The server does not answer", detail: "Is memproxy running?" });
  });
  const json = (answer.headers.get("content-type") || "").includes("json");
  const value = json ? await answer.json() : null;
  if (!answer.ok) throw new Problem(answer.status, value || {});
  return value;
}

/** The URL of a route; what is null or empty is left out of the query. */
export function address(path, query = {}) {
  const url = new URL(`v1/${path}`, document.baseURI.split("#")[0]);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, value);
  }
  return url;
}

export const get = (path, query, signal) => call("GET", path, { query, signal });
export const post = (path, body) => call("POST", path, { body: body ?? {} });
export const patch = (path, body) => call("PATCH", path, { body });
export const put = (path, body) => call("PUT", path, { body });
export const remove = (path, query) => call("DELETE", path, { query });
export const send = (path, query, file) => call("POST", path, { query, body: file, raw: true });

/** The path of what belongs to an entity. Browsers cannot ask for "." and "..": they take them for steps in the path. */
export function of(entity, ...parts) {
  const path = [entity, ...parts];
  if (path.some((part) => part === "." || part === "..")) {
    throw new Problem(400, { title: `A browser cannot ask for “${entity}”`, detail: "The command line and the API can." });
  }
  return ["entities", ...path].map(encodeURIComponent).join("/");
}
