import fc from 'fast-check';
import { DesiredFlows } from '../../../src/domain/conntrack/desired-flows.js';
import { Doubts, type FlowQuery } from '../../../src/domain/conntrack/doubts.js';
import type { Flow } from '../../../src/domain/conntrack/flow.js';
import { NODE_PORT } from '../../../src/domain/conntrack/frontend-map.js';
import type { UdpServicePort } from '../../../src/domain/conntrack/udp-service-port.js';

const node = '192.0.2.11';
const takesNodePorts = (address: string): boolean => address === node;

function servicePort(frontends: readonly [string, number][], endpoints: readonly string[]): UdpServicePort {
  return {
    frontends: frontends.map(([address, port]) => ({ address, port })),
    endpoints: new Set(endpoints),
  };
}

function flow(destination: string, destinationPort: number, answerer: string): Flow {
  return { destination, destinationPort, answerer };
}

describe('the decision examples of docs/spec/conntrack.md §3, and where this goes beyond them', () => {
  const desired = new DesiredFlows();
  const dns = servicePort(
    [
      ['10.96.0.10', 53],
      ['203.0.113.5', 53],
      [NODE_PORT, 30053],
    ],
    ['10.244.1.5:5353', '10.244.2.5:5353'],
  );
  desired.update('default/dns/udp/', dns, new Doubts());
  desired.update('default/log/udp/', servicePort([['10.96.0.20', 514]], []), new Doubts());
  desired.update('default/odd/udp/', servicePort([['10.96.0.30', 30053]], ['10.244.3.3:9']), new Doubts());

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
  ] as const)('%s', (_, destination, port, answerer, verdict) => {
    expect(desired.judge(flow(destination, port, answerer), takesNodePorts)).toBe(verdict);
  });

  it('writes IPv6 answerers in brackets', () => {
    const ipv6 = new DesiredFlows();
    ipv6.update('default/dns/udp/', servicePort([['fd00::10', 53]], ['[fd00::5]:53']), new Doubts());
    expect(ipv6.judge(flow('fd00::10', 53, '[fd00::5]:53'), takesNodePorts)).toBeUndefined();
    expect(ipv6.judge(flow('fd00::10', 53, '[fd00::10]:53'), takesNodePorts)).toBe('never translated');
  });

  it('takes the endpoints that are expected, too, until others are', () => {
    const expecting = new DesiredFlows();
    expecting.update('a/a/udp/', servicePort([['10.96.0.10', 53]], ['10.0.0.1:53']), new Doubts());
    expecting.expect([
      servicePort(
        [
          ['10.96.0.10', 53],
          [NODE_PORT, 30053],
        ],
        ['10.0.0.2:53'],
      ),
    ]);
    const judge = (destination: string, port: number, answerer: string) =>
      expecting.judge(flow(destination, port, answerer), takesNodePorts);
    expect(judge('10.96.0.10', 53, '10.0.0.1:53')).toBeUndefined();
    expect(judge('10.96.0.10', 53, '10.0.0.2:53')).toBeUndefined();
    expect(judge('10.96.0.10', 53, '10.0.0.3:53')).toBe('endpoint gone');
    expecting.update('a/a/udp/', servicePort([[NODE_PORT, 30053]], ['10.0.0.1:53']), new Doubts());
    expect(judge(node, 30053, '10.0.0.2:53')).toBeUndefined();
    expecting.expect([]);
    expect(judge(node, 30053, '10.0.0.2:53')).toBe('endpoint gone');
  });

  it('takes the endpoints of either when two service ports claim one frontend', () => {
    const both = new DesiredFlows();
    both.update('a/a/udp/', servicePort([['203.0.113.5', 53]], ['10.0.0.1:53']), new Doubts());
    both.update('b/b/udp/', servicePort([['203.0.113.5', 53]], ['10.0.0.2:53']), new Doubts());
    const judge = (answerer: string) => both.judge(flow('203.0.113.5', 53, answerer), takesNodePorts);
    expect([judge('10.0.0.1:53'), judge('10.0.0.2:53'), judge('10.0.0.3:53')]).toEqual([
      undefined,
      undefined,
      'endpoint gone',
    ]);
    both.update('a/a/udp/', undefined, new Doubts());
    expect([judge('10.0.0.1:53'), judge('10.0.0.2:53')]).toEqual(['endpoint gone', undefined]);
  });
});

describe('flows of a frontend that is gone', () => {
  const desired = new DesiredFlows();
  const doubts = new Doubts();
  const key = 'default/dns/udp/';
  const frontends: [string, number][] = [
    ['10.96.0.10', 53],
    ['203.0.113.5', 53],
    [NODE_PORT, 30053],
  ];
  desired.update(key, servicePort(frontends, ['10.244.1.5:53', '203.0.113.9:30053']), new Doubts());
  desired.update(key, undefined, doubts);
  const judge = (judged: Flow) => desired.judge(judged, takesNodePorts, doubts.lost);

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

describe('flows of a frontend that a former process left behind', () => {
  const desired = new DesiredFlows();
  const doubts = new Doubts();
  desired.update('default/dns/udp/', servicePort([['10.96.0.10', 53]], ['10.244.1.5:53']), new Doubts());
  const left: [string, number][] = [
    ['10.96.0.10', 53],
    ['10.96.0.99', 53],
    [NODE_PORT, 30053],
  ];
  desired.frontendsLeft(
    left.map(([address, port]) => ({ address, port })),
    doubts,
  );
  const judge = (judged: Flow) => desired.judge(judged, takesNodePorts, doubts.lost);

  it('go whatever they lead to', () => {
    expect(judge(flow('10.96.0.99', 53, '10.244.9.9:53'))).toBe('frontend gone');
    expect(judge(flow(node, 30053, '10.244.9.9:53'))).toBe('frontend gone');
  });

  it('stay when nobody translated them, when they are a host’s, or when the frontend is somebody’s now', () => {
    expect(judge(flow('10.96.0.99', 53, '10.96.0.99:53'))).toBeUndefined();
    expect(judge(flow('198.51.100.7', 30053, '10.0.0.1:1'))).toBeUndefined();
    expect(judge(flow('10.96.0.10', 53, '10.244.1.5:53'))).toBeUndefined();
  });

  it('are asked for, and stay in doubt when that fails', () => {
    const later = new Doubts();
    later.doubt({ address: '10.96.0.99', port: 53 }, ['10.244.1.5:53']);
    later.add(doubts);
    expect(later.queries()).toEqual([{ port: 53, address: '10.96.0.99' }, { port: 30053 }]);
    expect(later.lost.get(53, '10.96.0.99')).toBe('all');
    later.doubt({ address: '10.96.0.99', port: 53 }, ['10.244.1.6:53']);
    expect(later.lost.get(53, '10.96.0.99')).toBe('all');
  });
});

describe('what is doubted', () => {
  function doubtsOf(before: UdpServicePort | undefined, after: UdpServicePort | undefined): Doubts {
    const desired = new DesiredFlows();
    const doubts = new Doubts();
    desired.update('a/a/udp/', before, new Doubts());
    desired.update('a/a/udp/', after, doubts);
    return doubts;
  }
  const vip: [string, number] = ['10.96.0.10', 53];
  const nodePort: [string, number] = [NODE_PORT, 30053];

  it.each<[string, UdpServicePort | undefined, UdpServicePort | undefined, FlowQuery[]]>([
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
    expect(doubtsOf(before, after).queries()).toEqual(queries);
  });

  it('is asked for by port when several addresses share it, and as a whole when there are many ports', () => {
    const doubts = doubtsOf(undefined, servicePort([vip, ['203.0.113.5', 53]], []));
    expect(doubts.queries()).toEqual([{ port: 53 }]);
    for (let port = 100; port < 104; port++) doubts.doubt({ address: '10.96.0.10', port }, []);
    expect(doubts.queries()).toEqual([{}]);
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
  function answerers(services: ReadonlyMap<string, UdpServicePort>, address: string, port: number) {
    const having = (wanted: string) =>
      [...services.values()].filter(({ frontends }) =>
        frontends.some((frontend) => frontend.address === wanted && frontend.port === port),
      );
    const own = having(address);
    const owners = own.length > 0 || address !== node ? own : having(NODE_PORT);
    return owners.length > 0 ? new Set(owners.flatMap(({ endpoints }) => [...endpoints])) : undefined;
  }

  it('leaves exactly the flows that are right, looking only at what is in doubt', () => {
    fc.assert(
      fc.property(arbitraryChanges, (changes) => {
        const desired = new DesiredFlows();
        const services = new Map<string, UdpServicePort>();
        let doubts = new Doubts();
        let flows: Flow[] = [];
        const isRight = ({ destination, destinationPort, answerer }: Flow): boolean => {
          const allowed = answerers(services, destination, destinationPort);
          return allowed ? allowed.has(answerer) : answerer === `${destination}:${destinationPort}`;
        };
        for (const { key, after, sweeps } of changes) {
          if (after) services.set(key, after);
          else services.delete(key);
          desired.update(key, after, doubts);
          if (sweeps) {
            const queries = doubts.queries();
            const shown = (judged: Flow): boolean =>
              queries.some(
                ({ address, port }) =>
                  (port ?? judged.destinationPort) === judged.destinationPort &&
                  (address ?? judged.destination) === judged.destination,
              );
            flows = flows.filter((judged) => {
              const stays =
                !shown(judged) || desired.judge(judged, takesNodePorts, doubts.lost) === undefined;
              expect({ judged, stays }).toEqual({ judged, stays: isRight(judged) });
              return stays;
            });
            doubts = new Doubts();
          }
          for (const address of clientAddresses)
            for (const port of ports)
              for (const answerer of answerers(services, address, port) ?? [`${address}:${port}`])
                flows.push(flow(address, port, answerer));
        }
      }),
      { numRuns: 200 },
    );
  });
});
