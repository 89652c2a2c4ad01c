import { fileURLToPath } from 'node:url';
import type { BenchHost } from '../host.js';
import { ATTACKS } from './attacks.js';
import type { VictimFigures } from './victim.js';

const victim = fileURLToPath(new URL('tenants/victim.js', import.meta.url));

const HEAD = [
  '| One Service has | p50 | p90 | p99 | longest | processor time, p99 | first sync | peak memory | log |',
  '|---|---|---|---|---|---|---|---|---|',
];

/**
 * What a change of one Service takes while another does its worst: a table in Markdown, line by line; each attack in a process of
 * its own.
 */
export async function* tenantsTable(
  host: BenchHost,
  node: readonly string[],
  names: readonly string[],
  seconds: number,
): AsyncGenerator<string> {
  yield* HEAD;
  for (const name of names.length > 0 ? names : Object.keys(ATTACKS)) {
    const attack = ATTACKS[name];
    if (!attack) throw new Error(`no attack is called ${name}; there are ${Object.keys(ATTACKS).join(', ')}`);
    host.create();
    yield `| ${attack.title} | ${await cells(host, [...node, victim, name, String(seconds)])} |`;
  }
}

async function cells(host: BenchHost, command: readonly string[]): Promise<string> {
  try {
    const { output, peakBytes } = await host.run(...command);
    const { p50, p90, p99, max, usedP99, firstSync, logged } = JSON.parse(output) as VictimFigures;
    const times = [p50, p90, p99, max, usedP99, firstSync].map(
      (time) => `${time < 10 ? time.toFixed(1) : Math.round(time)} ms`,
    );
    return [...times, `${Math.round(peakBytes / 1e6)} MB`, `${(logged / 1e3).toFixed(1)} kB/s`].join(' | ');
  } catch (error) {
    const reason = /heap out of memory|not programmed|status null/.exec((error as Error).message)?.[0];
    if (reason === undefined) throw error;
    return `${reason === 'not programmed' ? 'never' : 'killed'} | | | | | | |`;
  }
}
