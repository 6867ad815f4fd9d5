// What a client saw, as JSON that can be compared: nothing left out but what belongs to a connection or to the proxy.

const NOT_COMPARED = /^(connection|keep-alive|transfer-encoding|x-memg-.*)$/;
const ON_STREAMS = /^(cache-control|x-accel-buffering)$/; // the proxy adds them where the upstream sent none

export function headers(given) {
  const pairs = given == null ? [] : typeof given.entries === 'function' ? [...given.entries()] : Object.entries(given);
  return pairs.filter(([name]) => !NOT_COMPARED.test(name) && !ON_STREAMS.test(name)).sort();
}

export function failure(error) {
  const told = { ...error, headers: headers(error.headers), responseHeaders: headers(error.responseHeaders) };
  delete told.url; // the two ask different addresses
  delete told.requestHeaders;
  for (const [name, value] of Object.entries(told)) if (value instanceof Error) told[name] = failure(value);
  const cause = error.cause instanceof Error ? failure(error.cause) : error.cause;
  const socket = error.name === 'SocketError' ? {} : told; // ports and counts of bytes
  delete socket.socket;
  return { kind: error.constructor.name, name: error.name, message: error.message, ...socket, cause };
}

// Runs the script that stands in the arguments: [{mode, entity, streaming}], one after the other, and prints what was seen.
export async function run(ask) {
  const [url, script] = process.argv.slice(2);
  const seen = {};
  for (const step of JSON.parse(script)) {
    const saw = [];
    try {
      await ask(url, step, (what) => saw.push(what));
    } catch (error) {
      saw.push({ failure: failure(error) });
    }
    seen[step.mode] = saw;
  }
  const plain = (key, value) =>
    value instanceof Headers ? headers(value) : value instanceof Error ? failure(value) : value === undefined ? null : value;
  process.stdout.write(JSON.stringify(seen, plain));
}
