import fc from 'fast-check';
import {
  DesiredFlows,
  SuspectFlows,
  type ServicePortFlows,
} from '../../../src/domain/conntrack/desired-flows.js';
import { type FlowPlace, NODE_PORT } from '../../../src/domain/conntrack/frontend-map.js';
import type { ClientFlow, Flow } from '../../../src/domain/conntrack/flow.js';
const node = '192.0.2.11';
const takesNodePorts = (address: string): boolean => address === node;

function servicePort(frontends: readonly [string, number][], endpoints: readonly string[]): ServicePortFlows {
  return {
    frontends: frontends.map(([address, port]) => ({ address, port })),
    endpoints: new Set(endpoints),
  };
}

function flow(
  destination: string,
  destinationPort: number,
  replySource: string,
  source = '10.244.9.8',
  isMasqueraded = false,
): ClientFlow {
  return { destination, destinationPort, replySource, source, isMasqueraded };
}

describe('the decision examples of docs/internals/spec/conntrack.md §3, and where this goes beyond them', () => {
  const desired = new DesiredFlows();
  const dns = servicePort(
    [
      ['10.96.0.10', 53],
      ['203.0.113.5', 53],
      [NODE_PORT, 30053],
    ],
    ['10.244.1.5:5353', '10.244.2.5:5353'],
  );
  desired.update('default/dns/udp/', dns, new SuspectFlows());
  desired.update('default/log/udp/', servicePort([['10.96.0.20', 514]], []), new SuspectFlows());
  desired.update(
    'default/odd/udp/',
    servicePort([['10.96.0.30', 30053]], ['10.244.3.3:9']),
    new SuspectFlows(),
  );

  it.each([
    ['serving', '10.96.0.10', 53, '10.244.1.5:5353', undefined],
    ['not serving', '10.96.0.10', 53, '10.244.3.5:5353', 'endpoint gone'],
    ['port differs', '10.96.0.10', 53, '10.244.1.5:53', 'endpoint gone'],
    ['unknown endpoint', '10.96.0.10', 53, '10.244.9.9:5353', 'endpoint gone'],
    ['before the service', '10.96.0.10', 53, '10.96.0.10:53', 'never translated'],
    ['load-balancer IP', '203.0.113.5', 53, '10.244.9.9:5353', 'endpoint gone'],
    ['node port', node, 30053, '10.244.9.9:5353', 'endpoint gone'],
    ['node port, serving', node, 30053, '10.244.2.5:5353', undefined],
    ["somebody else's address", '198.51.100.7', 30053, '198.51.100.7:30053', undefined],
    [
      "translated by somebody else, on somebody else's address",
      '198.51.100.7',
      30053,
      '10.0.0.1:1',
      undefined,
    ],
    ['service port number equals a node port', '10.96.0.30', 30053, '10.244.3.3:9', undefined],
    ['no endpoint', '10.96.0.20', 514, '10.244.9.9:514', 'no endpoint left'],
    ['before the service, no endpoint', '10.96.0.20', 514, '10.96.0.20:514', 'never translated'],
    ['unknown address', '10.96.0.99', 53, '10.244.9.9:53', undefined],
    ['unknown port', '10.96.0.10', 54, '10.244.9.9:5353', undefined],
  ] as const)('%s', (_, destination, port, replySource, verdict) => {
    expect(desired.judge(flow(destination, port, replySource), takesNodePorts)).toBe(verdict);
  });

  it('of flows without a reply leaves one that was never translated until an endpoint serves', () => {
    const unreplied = new DesiredFlows(true);
    const judged = (replySource: string) =>
      unreplied.judge(flow('10.96.0.20', 514, replySource), takesNodePorts);
    unreplied.update('default/log/tcp/', servicePort([['10.96.0.20', 514]], []), new SuspectFlows());
    expect(judged('10.96.0.20:514')).toBeUndefined();
    expect(judged('10.244.9.9:514')).toBe('no endpoint left');
    const served = servicePort([['10.96.0.20', 514]], ['10.244.9.1:514']);
    unreplied.update('default/log/tcp/', served, new SuspectFlows());
    expect(judged('10.96.0.20:514')).toBe('never translated');
  });

  it('writes IPv6 reply sources in brackets', () => {
    const ipv6 = new DesiredFlows();
    ipv6.update('default/dns/udp/', servicePort([['fd00::10', 53]], ['[fd00::5]:53']), new SuspectFlows());
    expect(ipv6.judge(flow('fd00::10', 53, '[fd00::5]:53'), takesNodePorts)).toBeUndefined();
    expect(ipv6.judge(flow('fd00::10', 53, '[fd00::10]:53'), takesNodePorts)).toBe('never translated');
  });

  it('takes the endpoints that are expected, too, until others are', () => {
    const expecting = new DesiredFlows();
    expecting.update('a/a/udp/', servicePort([['10.96.0.10', 53]], ['10.0.0.1:53']), new SuspectFlows());
    expecting.expect([
      servicePort(
        [
          ['10.96.0.10', 53],
          [NODE_PORT, 30053],
        ],
        ['10.0.0.2:53'],
      ),
    ]);
    const judge = (destination: string, port: number, replySource: string) =>
      expecting.judge(flow(destination, port, replySource), takesNodePorts);
    expect(judge('10.96.0.10', 53, '10.0.0.1:53')).toBeUndefined();
    expect(judge('10.96.0.10', 53, '10.0.0.2:53')).toBeUndefined();
    expect(judge('10.96.0.10', 53, '10.0.0.3:53')).toBe('endpoint gone');
    expecting.update('a/a/udp/', servicePort([[NODE_PORT, 30053]], ['10.0.0.1:53']), new SuspectFlows());
    expect(judge(node, 30053, '10.0.0.2:53')).toBeUndefined();
    expecting.expect([]);
    expect(judge(node, 30053, '10.0.0.2:53')).toBe('endpoint gone');
  });

  it('takes the endpoints of either when two service ports claim one frontend', () => {
    const both = new DesiredFlows();
    both.update('a/a/udp/', servicePort([['203.0.113.5', 53]], ['10.0.0.1:53']), new SuspectFlows());
    both.update('b/b/udp/', servicePort([['203.0.113.5', 53]], ['10.0.0.2:53']), new SuspectFlows());
    const judge = (replySource: string) => both.judge(flow('203.0.113.5', 53, replySource), takesNodePorts);
    expect([judge('10.0.0.1:53'), judge('10.0.0.2:53'), judge('10.0.0.3:53')]).toEqual([
      undefined,
      undefined,
      'endpoint gone',
    ]);
    both.update('a/a/udp/', undefined, new SuspectFlows());
    expect([judge('10.0.0.1:53'), judge('10.0.0.2:53')]).toEqual(['endpoint gone', undefined]);
  });
});

describe('flows of a frontend that is gone', () => {
  const desired = new DesiredFlows();
  const suspects = new SuspectFlows();
  const key = 'default/dns/udp/';
  const frontends: [string, number][] = [
    ['10.96.0.10', 53],
    ['203.0.113.5', 53],
    [NODE_PORT, 30053],
  ];
  desired.update(key, servicePort(frontends, ['10.244.1.5:53', '203.0.113.9:30053']), new SuspectFlows());
  desired.update(key, undefined, suspects);
  const judge = (judged: ClientFlow) => desired.judge(judged, takesNodePorts, suspects);

  it('lose what the service had made, also on an address that the node has no more', () => {
    expect(judge(flow('10.96.0.10', 53, '10.244.1.5:53'))).toBe('frontend gone');
    expect(judge(flow('203.0.113.5', 53, '10.244.1.5:53'))).toBe('frontend gone');
    expect(judge(flow('192.0.2.99', 30053, '10.244.1.5:53'))).toBe('frontend gone');
  });

  it('keep what it had not made', () => {
    expect(judge(flow('203.0.113.5', 53, '203.0.113.5:53'))).toBeUndefined();
    expect(judge(flow('203.0.113.5', 53, '10.7.7.7:53'))).toBeUndefined();
    expect(judge(flow('203.0.113.9', 30053, '203.0.113.9:30053'))).toBeUndefined();
  });
});

describe('flows of a frontend that an earlier process left', () => {
  const desired = new DesiredFlows();
  const suspects = new SuspectFlows();
  desired.update(
    'default/dns/udp/',
    servicePort([['10.96.0.10', 53]], ['10.244.1.5:53']),
    new SuspectFlows(),
  );
  const left: [string, number][] = [
    ['10.96.0.10', 53],
    ['10.96.0.99', 53],
    [NODE_PORT, 30053],
  ];
  desired.frontendsRemoved(
    left.map(([address, port]) => ({ address, port })),
    suspects,
  );
  const judge = (judged: ClientFlow) => desired.judge(judged, takesNodePorts, suspects);

  it('go whatever they lead to', () => {
    expect(judge(flow('10.96.0.99', 53, '10.244.9.9:53'))).toBe('frontend gone');
    expect(judge(flow(node, 30053, '10.244.9.9:53'))).toBe('frontend gone');
  });

  it('stay when nothing translated them, when they are a host’s, or when another Service has the frontend now', () => {
    expect(judge(flow('10.96.0.99', 53, '10.96.0.99:53'))).toBeUndefined();
    expect(judge(flow('198.51.100.7', 30053, '10.0.0.1:1'))).toBeUndefined();
    expect(judge(flow('10.96.0.10', 53, '10.244.1.5:53'))).toBeUndefined();
  });

  it('are queried, and stay suspect when that fails', () => {
    const later = new SuspectFlows();
    later.add({ address: '10.96.0.99', port: 53 }, ['10.244.1.5:53']);
    later.merge(suspects);
    expect(later.places()).toEqual([{ port: 53, address: '10.96.0.99' }, { port: 30053 }]);
    expect(later.removed.get(53, '10.96.0.99')).toBe('all');
    later.add({ address: '10.96.0.99', port: 53 }, ['10.244.1.6:53']);
    expect(later.removed.get(53, '10.96.0.99')).toBe('all');
  });
});

describe('the suspect flows', () => {
  function suspectsOf(
    before: ServicePortFlows | undefined,
    after: ServicePortFlows | undefined,
  ): SuspectFlows {
    const desired = new DesiredFlows();
    const suspects = new SuspectFlows();
    desired.update('a/a/udp/', before, new SuspectFlows());
    desired.update('a/a/udp/', after, suspects);
    return suspects;
  }
  const vip: [string, number] = ['10.96.0.10', 53];
  const nodePort: [string, number] = [NODE_PORT, 30053];

  it.each<[string, ServicePortFlows | undefined, ServicePortFlows | undefined, FlowPlace[]]>([
    ['a new service', undefined, servicePort([vip], []), [{ port: 53, address: '10.96.0.10' }]],
    ['a deleted service', servicePort([vip], []), undefined, [{ port: 53, address: '10.96.0.10' }]],
    ['nothing, when nothing changes', servicePort([vip], ['a']), servicePort([vip], ['a']), []],
    ['nothing, when endpoints come', servicePort([vip], ['a']), servicePort([vip], ['a', 'b']), []],
    [
      'the first endpoint',
      servicePort([vip], []),
      servicePort([vip], ['a']),
      [{ port: 53, address: '10.96.0.10' }],
    ],
    [
      'an endpoint that goes',
      servicePort([vip, nodePort], ['a']),
      servicePort([vip, nodePort], []),
      [{ port: 53, address: '10.96.0.10' }, { port: 30053 }],
    ],
    [
      'a node port that goes',
      servicePort([vip, nodePort], ['a']),
      servicePort([vip], ['a']),
      [{ port: 30053 }],
    ],
  ])('%s', (_, before, after, queries) => {
    expect(suspectsOf(before, after).places()).toEqual(queries);
  });

  it('are queried by port when several addresses share it, and all together when there are many ports', () => {
    const suspects = suspectsOf(undefined, servicePort([vip, ['203.0.113.5', 53]], []));
    expect(suspects.places()).toEqual([{ port: 53 }]);
    const others = [100, 101, 102].map((port) => ({ address: '10.96.0.10', port }));
    for (const other of others) suspects.add(other, []);
    expect(suspects.places()).toEqual([{ port: 53 }, ...others]);
    suspects.add({ address: '10.96.0.10', port: 103 }, []);
    expect(suspects.places()).toEqual([{}]);
  });
});

describe('any sequence of changes', () => {
  const addresses = ['10.96.0.10', '203.0.113.5', node, NODE_PORT];
  const clientAddresses = [...addresses.slice(0, 3), '198.51.100.7'];
  const ports = [53, 30053];
  const arbitraryPort = fc.option(
    fc.record({
      frontends: fc
        .uniqueArray(fc.tuple(fc.constantFrom(...addresses), fc.constantFrom(...ports)), {
          maxLength: 4,
          selector: String,
        })
        .map((list) => list.map(([address, port]) => ({ address, port }))),
      endpoints: fc
        .uniqueArray(fc.constantFrom('10.0.0.1:53', '10.0.0.2:53', '10.0.0.3:53'))
        .map((list) => new Set(list)),
    }),
    { nil: undefined },
  );
  const arbitraryChanges = fc.array(
    fc.record({ key: fc.constantFrom('a', 'b', 'c'), after: arbitraryPort, sweeps: fc.boolean() }),
    { maxLength: 25 },
  );

  /** Who may answer at an address and port, written down as plainly as can be. Undefined: no service has it. */
  function replySources(services: ReadonlyMap<string, ServicePortFlows>, address: string, port: number) {
    const having = (wanted: string) =>
      [...services.values()].filter(({ frontends }) =>
        frontends.some((frontend) => frontend.address === wanted && frontend.port === port),
      );
    const own = having(address);
    const owners = own.length > 0 || address !== node ? own : having(NODE_PORT);
    return owners.length > 0 ? new Set(owners.flatMap(({ endpoints }) => [...endpoints])) : undefined;
  }

  it('leaves exactly the flows that are right, examining only suspect flows', () => {
    fc.assert(
      fc.property(arbitraryChanges, (changes) => {
        const desired = new DesiredFlows();
        const services = new Map<string, ServicePortFlows>();
        let suspects = new SuspectFlows();
        let flows: ClientFlow[] = [];
        const isRight = ({ destination, destinationPort, replySource }: Flow): boolean => {
          const allowed = replySources(services, destination, destinationPort);
          return allowed ? allowed.has(replySource) : replySource === `${destination}:${destinationPort}`;
        };
        for (const { key, after, sweeps } of changes) {
          if (after) services.set(key, after);
          else services.delete(key);
          desired.update(key, after, suspects);
          if (sweeps) {
            const queries = suspects.places();
            const shown = (judged: ClientFlow): boolean =>
              queries.some(
                ({ address, port }) =>
                  (port ?? judged.destinationPort) === judged.destinationPort &&
                  (address ?? judged.destination) === judged.destination,
              );
            flows = flows.filter((judged) => {
              const stays = !shown(judged) || desired.judge(judged, takesNodePorts, suspects) === undefined;
              expect({ judged, stays }).toEqual({ judged, stays: isRight(judged) });
              return stays;
            });
            suspects = new SuspectFlows();
          }
          for (const address of clientAddresses)
            for (const port of ports)
              for (const replySource of replySources(services, address, port) ?? [`${address}:${port}`])
                flows.push(flow(address, port, replySource));
        }
      }),
      { numRuns: 100 },
    );
  });
});
