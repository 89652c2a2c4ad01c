import { ServicesSum } from '../../../../src/diagnostics/application/cluster/cluster-status.js';
import { clusterServicesLines } from '../../../../src/diagnostics/adapters/cli/cluster/texts.js';
import { shownLines } from '../../../support/shown-lines.js';
import type { ServiceRow } from '../../../../src/diagnostics/application/status/service-row.js';

const row = (name: string, parts: Partial<ServiceRow> = {}): ServiceRow =>
  ({
    namespace: 'shop',
    name,
    type: 'ClusterIP',
    frontends: ['10.96.0.1:80'],
    endpointCounts: { used: 1, known: 1 },
    state: 'ok',
    reason: '1 of 1 endpoint is ready',
    ...parts,
  }) as ServiceRow;

it('adds up the verdicts of nodes, and names the nodes of those that are not ok', () => {
  const sum = new ServicesSum();
  const lost = row('web', { state: 'warning', reason: 'f belongs to shop/a' });
  const untyped = row('pay', { state: 'error', reason: 'no room' });
  sum.add('node-1', { services: [row('web'), { ...untyped, type: undefined }], unknownNames: [] });
  sum.add('node-2', { services: [lost, row('pay')], unknownNames: [] });
  sum.add('node-3', {
    services: [
      row('web', { reason: '2 of 2 endpoints are ready' }),
      row('pay', { state: 'warning', reason: 'not programmed' }),
    ],
    unknownNames: [],
  });
  const result = sum.result();
  const ok = { state: 'ok', reason: '1 of 1 endpoint is ready', nodes: [] };
  expect(result).toMatchObject({
    unknownNames: [],
    services: [
      {
        name: 'pay',
        nodeCount: 3,
        verdicts: [
          { state: 'error', reason: 'no room', nodeCount: 1, nodes: ['node-1'] },
          { state: 'warning', reason: 'not programmed', nodeCount: 1, nodes: ['node-3'] },
          { ...ok, nodeCount: 1 },
        ],
      },
      {
        name: 'web',
        type: 'ClusterIP',
        verdicts: [
          { state: 'warning', reason: 'f belongs to shop/a', nodeCount: 1, nodes: ['node-2'] },
          { ...ok, nodeCount: 2 },
        ],
      },
    ],
  });
  expect(shownLines(clusterServicesLines(result, false))).toBe(
    [
      'NAMESPACE  NAME  TYPE       ENDPOINTS  STATE    NODES  FRONTENDS     REASON',
      'shop       pay   -          1/1        error    1/3    10.96.0.1:80  no room (on node-1)',
      'shop       web   ClusterIP  1/1        warning  1/3    10.96.0.1:80  f belongs to shop/a (on node-2)',
      '',
    ].join('\n'),
  );
});

it('keeps reasons apart that concern single nodes, although they are ok', () => {
  const other = row('web', { cause: 'OtherZones', reason: '1 ready endpoint is hinted for zone b' });
  const printed = (...rows: readonly ServiceRow[]): string => {
    const sum = new ServicesSum();
    rows.forEach((one, index) => sum.add(`node-${index + 1}`, { services: [one], unknownNames: [] }));
    return shownLines(clusterServicesLines(sum.result(), false)).split('\n')[1]!;
  };
  const expected =
    'shop       web   ClusterIP  1/1        ok     2/3    10.96.0.1:80  1 of 1 endpoint is ready';
  expect(printed(row('web'), other, row('web'))).toBe(expected);
  expect(printed(other, row('web'), row('web'))).toBe(expected);
  expect(printed(other, other, row('web'))).toContain('hinted for zone b (on node-1, node-2)');
});
