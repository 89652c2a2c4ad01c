import { nearestName } from '../../../src/domain/validation/nearest-name.js';

it.each([
  ['sessionafinity', 'sessionAffinity'],
  ['clusterip', 'clusterIP'],
  ['Port', 'port'],
  ['prot', undefined],
  ['targetPort', undefined],
  ['__proto__', undefined],
  ['x'.repeat(100_000), undefined],
])('case %#', (written, meant) => {
  expect(nearestName(written, ['sessionAffinity', 'clusterIP', 'port'])).toBe(meant);
});
