import { compilesAlike } from '../../../src/domain/ipvs/compile.js';

const node = { nodePortIPs: ['192.0.2.1'], nodeAddresses: ['192.0.2.1', '192.0.2.2'] };

it.each([
  [true, { ...node }],
  [true, { nodePortIPs: [...node.nodePortIPs], nodeAddresses: [...node.nodeAddresses] }],
  [false, { ...node, nodePortIPs: 'all' as const }],
  [false, { ...node, nodePortIPs: ['192.0.2.2'] }],
  [false, { ...node, nodeAddresses: ['192.0.2.1'] }],
])('compiled rules suit another node: %s for %j', (alike, other) => {
  expect(compilesAlike(node, node)).toBe(true);
  expect(compilesAlike(node, other)).toBe(alike);
});
