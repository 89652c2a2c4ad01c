import fc from 'fast-check';
import { flowHash, inSample, nextShift, shiftFor } from '../../../src/domain/traffic/sample.js';

const word = fc.integer({ min: 0, max: 0xffff_ffff });
const portNumber = fc.integer({ min: 0, max: 0xffff });

it('a sample contains all smaller ones', () => {
  fc.assert(
    fc.property(word, portNumber, fc.integer({ min: 0, max: 15 }), (client, port, shift) => {
      const hash = flowHash(client, port);
      expect(inSample(hash, 0)).toBe(true);
      if (inSample(hash, shift + 1)) expect(inSample(hash, shift)).toBe(true);
    }),
  );
});

it.each([
  ['the ports of one client', (i: number) => flowHash(0x0af40107, 32_768 + i)],
  ['every other port of it, as Linux gives them', (i: number) => flowHash(0x0af40107, 1_024 + 2 * i)],
  ['clients of a network, each by one port', (i: number) => flowHash(0x0af40000 + i, 40_000)],
  ['clients with some ports each', (i: number) => flowHash(0x64400000 + (i >>> 4), 20_000 + (i & 15))],
])('one in 16 of %s is within a tenth of the truth', (_, hashOf) => {
  const count = 16_000;
  const sampled = Array.from({ length: count }, (_, i) => hashOf(i)).filter((hash) => inSample(hash, 4));
  expect(Math.abs(sampled.length * 16 - count)).toBeLessThan(count / 10);
});

it('samples as many as the limits of memory and time allow', () => {
  expect(shiftFor({ tracked: 0, eventsPerSecond: 0 })).toBe(0);
  expect(shiftFor({ tracked: 65_536, eventsPerSecond: 5_000 })).toBe(0);
  expect(shiftFor({ tracked: 65_537, eventsPerSecond: 0 })).toBe(1);
  expect(shiftFor({ tracked: 0, eventsPerSecond: 5_001 })).toBe(1);
  expect(shiftFor({ tracked: 1_000_000, eventsPerSecond: 0 })).toBe(4);
  expect(shiftFor({ tracked: 1_000, eventsPerSecond: 30_000 })).toBe(3);
  expect(shiftFor({ tracked: Infinity, eventsPerSecond: 0 })).toBe(16);
});

it('takes a smaller sample at once, a larger one when there is slack', () => {
  const load = (eventsPerSecond: number) => ({ tracked: 0, eventsPerSecond });
  expect(nextShift(0, load(5_001))).toBe(1);
  expect(nextShift(1, load(4_000))).toBe(1);
  expect(nextShift(1, load(1_250))).toBe(0);
  expect(nextShift(1, { tracked: 60_000, eventsPerSecond: 0 })).toBe(1);
});
