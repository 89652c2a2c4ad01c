import type { RawObject } from '../../../src/domain/decode/fields.js';
import { Allocations } from '../../../src/domain/validation/allocations.js';

const service = (spec: unknown): RawObject => ({ spec });
const portsOf = (...ports: readonly unknown[]) => service({ ports });

/** What a Service may not have, if this one was there before. */
function refused(before: RawObject, after: RawObject): readonly string[] {
  const allocations = new Allocations();
  expect(allocations.claim('Service shop/before', before)).toEqual([]);
  return allocations.claim('Service shop/after', after).map(({ field, what }) => `${field}: ${what}`);
}

it.each([
  [
    service({ clusterIPs: ['10.96.0.1'] }),
    service({ clusterIPs: ['10.96.0.1'] }),
    'spec.clusterIP: 10.96.0.1',
  ],
  [
    service({ clusterIPs: ['10.96.0.1', 'fd00::1'] }),
    service({ clusterIPs: ['10.96.0.2', 'FD00:0::1'] }),
    'spec.clusterIPs[1]: fd00::1',
  ],
  [
    portsOf({ nodePort: 30_080, protocol: 'TCP' }),
    portsOf({ nodePort: 30_081, protocol: 'TCP' }, { nodePort: 30_080, protocol: 'TCP' }),
    'spec.ports[1].nodePort: node port 30080/TCP',
  ],
  [
    portsOf({ nodePort: 30_080, protocol: 'TCP' }),
    service({ healthCheckNodePort: 30_080 }),
    'spec.healthCheckNodePort: node port 30080/TCP',
  ],
])('belongs to the Service that had it first: %j, %j', (before, after, what) => {
  expect(refused(before, after)).toEqual([`${what} belongs to Service shop/before`]);
});

it.each([
  ['another protocol', { nodePort: 30_080, protocol: 'TCP' }, { nodePort: 30_080, protocol: 'UDP' }],
  ['no node port', { port: 80, protocol: 'TCP' }, { port: 80, protocol: 'TCP' }],
  ['node port 0', { nodePort: 0, protocol: 'TCP' }, { nodePort: 0, protocol: 'TCP' }],
  ['what is no port', null, null],
])('%s belongs to nobody', (_, before, after) => {
  expect(refused(portsOf(before), portsOf(after))).toEqual([]);
});

it('leaves headless Services, those without a spec, and a Service that comes again alone', () => {
  const headless = service({ clusterIPs: ['None'] });
  expect(refused(headless, headless)).toEqual([]);
  expect(refused(service(undefined), service('x'))).toEqual([]);
  const allocations = new Allocations();
  const web = service({ clusterIPs: ['10.96.0.1'], ports: [{ nodePort: 30_080, protocol: 'TCP' }] });
  for (let time = 0; time < 2; time++) expect(allocations.claim('Service shop/web', web)).toEqual([]);
});
