import { nodeSchema, serviceCidrSchema } from '../../../src/domain/validation/object-schemas.js';
import type { Schema } from '../../../src/domain/validation/schema.js';

function fields(schema: Schema, kind: string, spec: unknown): string[] {
  const found: string[] = [];
  schema({ apiVersion: 'v1', kind, metadata: { name: 'a' }, spec }, '', (field) => found.push(field));
  return found;
}

it.each<[unknown, string[]]>([
  [{ cidrs: ['10.96.0.0/12'] }, []],
  [{ cidrs: ['10.96.0.0/12', 'fd00::/112'] }, []],
  [undefined, ['spec.cidrs']],
  [{}, ['spec.cidrs']],
  [{ cidrs: ['10.96.0.0/12', '10.112.0.0/12'] }, ['spec.cidrs[1]']],
  [{ cidrs: ['FD00::/112'] }, ['spec.cidrs[0]']],
  [{ cidrs: ['10.96.0.0/12', 'fd00::/112', 'x'] }, ['spec.cidrs[2]', 'spec.cidrs']],
])('a ServiceCIDR %j', (spec, wrong) => {
  expect(fields(serviceCidrSchema, 'ServiceCIDR', spec).sort()).toEqual(wrong.sort());
});

it.each<[unknown, string[]]>([
  [undefined, []],
  [{ podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24', 'fd00::/64'] }, []],
  [{ podCIDR: 'x' }, ['spec.podCIDR']],
  [{ podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'] }, ['spec.podCIDRs[1]']],
  [{ taints: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'].map((effect) => ({ key: 'a', effect })) }, []],
  [
    { taints: [{ key: 'a b', effect: 'No', value: '-' }] },
    ['spec.taints[0].key', 'spec.taints[0].value', 'spec.taints[0].effect'],
  ],
  [{ taints: [{}] }, ['spec.taints[0].key', 'spec.taints[0].effect']],
  [{ unschedulable: 'yes' }, ['spec.unschedulable']],
])('a Node %j', (spec, wrong) => {
  expect(fields(nodeSchema, 'Node', spec).sort()).toEqual(wrong.sort());
});
