import { setTimeout as delay } from 'node:timers/promises';
import { type BenchHost, collect } from './host.js';

const FIRST_TIMEOUT_MS = 250;
const LAST_TIMEOUT_MS = 64_000;
const POLL_MS = 20;

/**
 * Counts the nf_tables transactions committed on the host while the work runs, with `nft monitor`. A transaction of our
 * own before and after the work shows that the monitor is running, and that it has caught up.
 */
export async function countWrites<Result>(
  host: BenchHost,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly writes: number }> {
  const monitor = host.start('nft', 'monitor');
  const seen = collect(monitor.stdout);
  try {
    await mark(host, seen, 'before');
    const result = await work();
    await mark(host, seen, 'after');
    const between = seen().split('bench-mark-before').at(-1)?.split('bench-mark-after')[0] ?? '';
    // The first generation line belongs to the last mark before the work.
    return { result, writes: between.split('# new generation').length - 2 };
  } finally {
    monitor.kill();
  }
}

/**
 * Commits transactions that change nothing, until the monitor reports one. The monitor reads all rules first and
 * restarts if a transaction comes in between, so it gets more time after each.
 */
async function mark(host: BenchHost, seen: () => string, name: string): Promise<void> {
  const table = `ip bench-mark-${name}`;
  for (let timeout = FIRST_TIMEOUT_MS; timeout <= LAST_TIMEOUT_MS; timeout *= 2) {
    await host.run('nft', `add table ${table}; delete table ${table}`);
    const deadline = Date.now() + timeout;
    while (Date.now() < deadline) {
      if (seen().includes(`delete table ${table}\n# new generation`)) return;
      await delay(POLL_MS);
    }
  }
  throw new Error(`nft monitor reports no transactions; its output: ${seen().slice(-300)}`);
}
