import { NODE_ADDRESS } from './network.mjs';

/** An answer takes milliseconds; Node's `fetch` was seen to wait for ever where the proxy began to listen meanwhile. */
const ANSWERED_WITHIN_MS = 1000;
/** The namespace of the broken Services of the exercise. */
const BROKEN = 'broken';
/** A frontend as the proxy lists it: an IPv4 address and a port, or a node port. */
const FRONTEND = /^(?:(?<host>[\d.]+):)?(?<port>\d+)\/TCP$/;

/**
 * What the proxy whose page has this address serves, and which manifests it ignores. Its own answer, because after a bad edit it
 * serves what the files no longer say. Undefined if it does not answer.
 */
export async function askServed(page) {
  try {
    const [{ services }, { ignored }] = await Promise.all([
      json(`${page}debug/services`),
      json(`${page}debug/status`),
    ]);
    return { targets: services.sort((a, b) => rank(a) - rank(b)).flatMap(targetsOf), ignored };
  } catch {
    return undefined; // it starts or ends: who watches its process knows more
  }
}

async function json(url) {
  return (await fetch(url, { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) })).json();
}

/** The main example first, and what is broken last. */
function rank({ namespace, name }) {
  if (namespace === BROKEN) return 2;
  return name === 'web' ? 0 : 1;
}

/** Every TCP address at which a Service can be reached from the client. Those of cluster IPs come first. */
function targetsOf({ namespace, name, frontends }) {
  const places = frontends.flatMap((text) => FRONTEND.exec(text)?.groups ?? []);
  return places.map(({ host, port }) => {
    const of = { service: name, isBroken: namespace === BROKEN };
    if (host === undefined) return { ...of, kind: 'node port', address: `${NODE_ADDRESS}:${port}` };
    return {
      ...of,
      kind: host === places[0].host ? 'cluster IP' : 'other IP',
      address: `${host}:${port}`,
    };
  });
}
