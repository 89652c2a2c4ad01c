import type { ProxyStatus } from '../../../src/application/status/proxy-status.js';
import type { Host } from '../testbed/host.js';

/** What the proxy of a host says of itself, at its usual metrics address. Rejects when none answers. */
export async function statusOf(host: Host): Promise<ProxyStatus> {
  const { body } = await host.get('http://127.0.0.1:10249/debug/status');
  return JSON.parse(body) as ProxyStatus;
}
