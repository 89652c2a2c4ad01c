import { ServicesSum } from '../../../../src/diagnostics/application/cluster/cluster-status.js';
import { written } from '../../../../src/diagnostics/adapters/cli/output.js';
import { clusterServicesLines } from '../../../../src/diagnostics/adapters/cli/cluster/texts.js';
import type { ServiceRow } from '../../../../src/diagnostics/application/status/service-row.js';

const row = (name: string, parts: Partial<ServiceRow> = {}): ServiceRow =>
  ({
    namespace: 'shop',
    name,
    type: 'ClusterIP',
    frontends: ['10.96.0.1:80'],
    state: 'ok',
    reason: '1 of 1 endpoint is ready',
    ...parts,
  }) as ServiceRow;

it('says where another Service holds a frontend', () => {
  const sum = new ServicesSum();
  const held = row('web', { state: 'warning', reason: 'f belongs to shop/a' });
  sum.add('node-1', { services: [held], unknownNames: [] });
  const [line] = clusterServicesLines(sum.result()).slice(1);
  expect(written(line!)).toContain('0/1         on: node-1 (warning: f belongs to shop/a)');
});

it('adds up the Services of nodes, and says where one is not as it should be', () => {
  const sum = new ServicesSum();
  const untyped = row('pay', { state: 'error', reason: 'no room' });
  sum.add('node-1', { services: [row('web'), { ...untyped, type: undefined }], unknownNames: [] });
  sum.add('node-2', {
    services: [row('web', { state: 'warning', reason: 'f belongs to shop/a' }), row('pay')],
    unknownNames: [],
  });
  sum.add('node-3', {
    services: [row('web'), row('pay', { state: 'warning', reason: 'not programmed' })],
    unknownNames: [],
  });
  const { services, unknownNames } = sum.result();
  expect(unknownNames).toEqual([]);
  expect(services).toEqual([
    {
      namespace: 'shop',
      name: 'pay',
      frontends: ['10.96.0.1:80'],
      listed: 3,
      programmed: 1,
      others: [
        { node: 'node-1', state: 'error', reason: 'no room' },
        { node: 'node-3', state: 'warning', reason: 'not programmed' },
      ],
    },
    {
      namespace: 'shop',
      name: 'web',
      type: 'ClusterIP',
      frontends: ['10.96.0.1:80'],
      listed: 3,
      programmed: 2,
      others: [{ node: 'node-2', state: 'warning', reason: 'f belongs to shop/a' }],
    },
  ]);
});
