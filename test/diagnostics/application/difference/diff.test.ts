import { Diff } from '../../../../src/diagnostics/application/difference/diff.js';
import {
  familyDifference,
  isNone,
} from '../../../../src/diagnostics/application/difference/difference-report.js';
import { differenceLines } from '../../../../src/diagnostics/adapters/cli/commands/diff.js';
import type { RuleDifference } from '../../../../src/domain/reconcile/rule-difference.js';
import { shownLines } from '../../../support/shown-lines.js';

const differenceText = (...args: Parameters<typeof differenceLines>): string =>
  shownLines(differenceLines(...args));

const rule: RuleDifference = { sign: '+', text: 'rule of the node' };
const web: RuleDifference = { sign: '-', text: 'element of web', servicePort: 'shop/web' };
const cart: RuleDifference = { sign: '+', text: 'element of cart', servicePort: 'shop/cart:http' };
const dns: RuleDifference = { sign: '+', text: 'other element of cart', servicePort: 'shop/cart:dns' };

const loop = (differences: () => Promise<readonly RuleDifference[] | undefined>) => ({
  family: 'IPv4' as const,
  differences,
});

it('reports by service port, in words, with what is of none last', async () => {
  const report = await new Diff('nftables', [loop(async () => [rule, web, cart, dns])]).report();
  expect(isNone(report)).toBe(false);
  expect(differenceText(report)).toBe(
    [
      'IPv4 (nftables)',
      '  shop/cart:dns',
      '    + other element of cart',
      '  shop/cart:http',
      '    + element of cart',
      '  shop/web',
      '    - element of web',
      '  of no single Service',
      '    + rule of the node',
      '',
    ].join('\n'),
  );
});

it('reports of one Service alone', async () => {
  const diff = new Diff('nftables', [loop(async () => [rule, web, cart, dns])]);
  expect((await diff.report(['shop/cart'])).families[0]!.lines).toEqual([dns, cart]);
  expect((await diff.report(['shop/ca'])).families[0]!.lines).toEqual([]);
  expect((await diff.report([''])).families[0]!.lines).toEqual([]);
});

it('is empty when nothing differs', async () => {
  const report = await new Diff('nftables', [loop(async () => [])]).report();
  expect(isNone(report)).toBe(true);
  expect(differenceText(report)).toBe('');
});

it.each([
  ['the backend cannot tell', async () => undefined, 'this mode cannot compare'],
  ['the kernel cannot be read', () => Promise.reject(new Error('EPERM')), 'EPERM'],
])('says so when %s', async (_, differences, problem) => {
  const report = await new Diff('userspace', [loop(differences)]).report();
  expect(isNone(report)).toBe(false);
  expect(differenceText(report)).toBe(`IPv4 (userspace): not known: ${problem}\n`);
});

it('compares once for all who ask at a time, each about a Service of its own, and anew after a failure', async () => {
  let turn = 0;
  const diff = new Diff('nftables', [
    loop(async () => {
      await new Promise(setImmediate);
      if (turn++ === 0) throw new Error('once');
      return [web, cart];
    }),
  ]);
  const failed = await Promise.all([diff.report(), diff.report()]);
  expect(failed.map(({ families }) => families[0]!.problem)).toEqual(['once', 'once']);
  const reports = await Promise.all([diff.report(), diff.report(['shop/web']), diff.report(['shop/cart'])]);
  expect(reports.map(({ families }) => families[0]!.lines)).toEqual([[cart, web], [web], [cart]]);
  expect(turn).toBe(2);
});

it('lists the first ten thousand lines, and counts the rest', () => {
  const { lines, omitted } = familyDifference(
    'IPv4',
    Array.from({ length: 10_003 }, () => rule),
  );
  expect(lines).toHaveLength(10_000);
  expect(omitted).toBe(3);
  expect(
    differenceText({ mode: 'nftables', families: [{ family: 'IPv4', lines: [rule], omitted: 3 }] }),
  ).toMatch(/\n {2}and 3 more\n$/);
});
