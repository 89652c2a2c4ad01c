import { readFileSync } from 'node:fs';
import { SERVICE_SETS, setComment, setHeader, setName } from '../../../src/domain/ipvs/service-sets.js';

it('sets have the names, types and comments of kube-proxy (docs/internals/spec/ipvs.md §5)', () => {
  const spec = readFileSync(new URL('../../../docs/internals/spec/ipvs.md', import.meta.url), 'utf8');
  const rows = spec.matchAll(/^\| `(KUBE-[-A-Z]+)` \| `(KUBE-6-[-A-Z]+)`[ ✂]*\| (\S+) \| `([^`]+)` \|/gm);
  const ours = SERVICE_SETS.map((set) => [
    ...[setName(set, 'IPv4'), setName(set, 'IPv6')],
    ...[setHeader(set, 'IPv4').type, setComment(set)],
  ]);
  expect(ours.sort()).toEqual([...rows].map((row) => row.slice(1)).sort());
});
