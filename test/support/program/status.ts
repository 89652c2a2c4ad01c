import type { SyncState } from '../../../src/diagnostics/application/status/proxy-status.js';
import type { ProxyStatus } from '../../../src/diagnostics/application/status/proxy-status.js';
import type { Host } from '../testbed/host.js';

const METRICS = 'http://127.0.0.1:10249';

/** What the proxy of a host says of itself, at its usual metrics address. Rejects when none answers. */
export async function statusOf(host: Host): Promise<ProxyStatus> {
  return (await answer(host, 'status')) as ProxyStatus;
}

/** How much of what it was told it has programmed. Rejects when none answers. */
export async function syncStateOf(host: Host): Promise<SyncState> {
  return (await answer(host, 'sync')) as SyncState;
}

async function answer(host: Host, what: string): Promise<unknown> {
  const { status, body } = await host.get(`${METRICS}/debug/${what}`);
  if (status !== 200) throw new Error(`/debug/${what}: ${status} ${body}`);
  return JSON.parse(body);
}
