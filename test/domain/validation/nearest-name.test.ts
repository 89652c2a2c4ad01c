import { nearestName } from '../../../src/domain/validation/nearest-name.js';

it.each([
  ['sessionafinity', 'sessionAffinity'],
  ['clusterip', 'clusterIP'],
  ['Port', 'port'],
  ['prot', 'port'],
  ['oprt', 'port'],
  ['potr', 'port'],
  ['trop', undefined],
  ['targetPort', undefined],
  ['__proto__', undefined],
  ['sessionAffini', 'sessionAffinity'],
  ['sessionAffinityxx', 'sessionAffinity'],
  ['sessionXXfinity', 'sessionAffinity'],
  ['sessionXXXinity', undefined],
  ['x'.repeat(100_000), undefined],
  [`${'n'.repeat(63)}m`, 'n'.repeat(64)],
])('case %#', (written, meant) => {
  expect(nearestName(written, ['sessionAffinity', 'clusterIP', 'port', 'n'.repeat(64)])).toBe(meant);
});
