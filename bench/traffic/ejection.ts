import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchHost } from '../host.js';
import { coreShare, percent, underLoad } from './under-load.js';

const CONNECTIONS = 10_000;
const RATES = [1_000, 10_000];
const SETTLE_MS = 8_000;
const MEASURED_MS = 20_000;

/** What it costs to look for silent endpoints while none is, as a table in Markdown: shares of a core. */
export async function ejectionTable(host: BenchHost, kubeproxy: readonly string[]): Promise<string> {
  const rows: string[] = [];
  for (const perSecond of RATES) {
    const share = (flags: readonly string[]): Promise<number> => {
      const load = { connections: CONNECTIONS, perSecond, seconds: 60, flags };
      return underLoad(host, kubeproxy, load, async (pid) => {
        await sleep(SETTLE_MS);
        return coreShare(pid, () => sleep(MEASURED_MS));
      });
    };
    const [off, on] = [await share([]), await share(['--eject-unresponsive-endpoints'])];
    rows.push(`| ${perSecond.toLocaleString('en')} | ${percent(off)} | ${percent(on)} |`);
  }
  return [
    '| new connections a second | off | `--eject-unresponsive-endpoints` |',
    '|--:|--:|--:|',
    ...rows,
  ].join('\n');
}
