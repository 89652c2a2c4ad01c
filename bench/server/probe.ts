import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterIPOf, NODE_ADDRESS } from '../cluster.js';

const SERVICE_PORT = 80;
const ENDPOINT_PORT = 8080;
/** Services that are probed first, and then all. */
const SAMPLE = 100;
/** Of a connection whose packets are dropped. */
const CONNECT_TIMEOUT_MS = 50;
/** Between two attempts, as a share of the time so far, so that probes of a slow program do not slow it further. */
const PAUSE = 0.05;
const LEAST_PAUSE_MS = 1;

/**
 * Determines which Services the kernel serves, whichever program wrote the rules and in whichever layout: by connections to
 * cluster IPs from the node. All addresses of Services and endpoints are local to it; every endpoint sends back the address to which a
 * connection came, and every other port is closed.
 */
export class Probe {
  private constructor(
    private readonly endpoints: Server,
    private readonly services: number,
  ) {}

  static async open(services: number): Promise<Probe> {
    const endpoints = createServer((socket) => {
      socket.on('error', () => {});
      socket.end(socket.localAddress ?? '');
    });
    endpoints.listen(ENDPOINT_PORT, '0.0.0.0');
    await once(endpoints, 'listening');
    return new Probe(endpoints, services);
  }

  /**
   * Resolves with the moment when a connection to the last Service became possible, by `now`, or null as `until` does. The sample
   * comes first, so that the time to probe all does not count.
   */
  async untilAllServed(limitMs: number): Promise<number | null> {
    const all = Array.from({ length: this.services }, (_, index) => index);
    const sample = all.filter((index) => index % Math.ceil(this.services / SAMPLE) === 0);
    const began = now();
    let last = began;
    for (const index of [...sample, ...all.reverse()]) {
      if ((await this.endpointOf(index)) !== undefined) continue;
      const served = async (): Promise<boolean> => (await this.endpointOf(index)) !== undefined;
      const at = await until(served, limitMs, began);
      if (at === null) return null;
      last = at;
    }
    return last;
  }

  /** Resolves with the moment when a new connection to that Service reaches that address. */
  untilReached(index: number, address: string, limitMs: number): Promise<number | null> {
    return until(async () => (await this.endpointOf(index)) === address, limitMs);
  }

  close(): void {
    this.endpoints.close();
  }

  /** The address that a new connection to the Service of that number reaches. */
  private endpointOf(index: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const socket = connect({
        host: clusterIPOf(index),
        port: SERVICE_PORT,
        localAddress: NODE_ADDRESS,
        timeout: CONNECT_TIMEOUT_MS,
      });
      const finish = (address?: string): void => {
        resolve(address);
        // Without the state that a closed connection leaves behind.
        socket.resetAndDestroy();
      };
      socket.once('data', (address) => finish(String(address)));
      socket.once('error', () => finish());
      // This process may have waited for a processor itself: what the kernel has meanwhile reported comes first.
      socket.once('timeout', () => setImmediate(() => socket.connecting && finish()));
      socket.once('close', () => finish());
    });
  }
}

/** Milliseconds since 1970, of a clock that all processes share. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Resolves with the moment when it is true, by `now`; null if that takes longer than the limit. */
export async function until(
  isTrue: () => Promise<boolean>,
  limitMs: number,
  began = now(),
): Promise<number | null> {
  for (;;) {
    if (await isTrue()) return now();
    const elapsed = now() - began;
    if (elapsed > limitMs) return null;
    await sleep(Math.max(LEAST_PAUSE_MS, elapsed * PAUSE));
  }
}
