import { kernelSuits } from '../../../src/adapters/nftables/kernel-support.js';

it.each([
  ['4.19.0-26-amd64', false],
  ['5.4.0-150-generic', false],
  ['5.12.19', false],
  ['5.13.0', true],
  ['5.15.0-91-generic', true],
  ['6.1.0-18-amd64', true],
  ['10.0.0', true],
])('mode nftables on Linux %s: %s', (release, suits) => {
  expect(kernelSuits(release)).toBe(suits);
});
