import type { Explanation } from '../../../../../src/diagnostics/application/explain/explanation.js';
import { explanationLines } from '../../../../../src/diagnostics/adapters/cli/commands/explain.js';
import { shownLines } from '../../../../support/shown-lines.js';

const explanationText = (...args: Parameters<typeof explanationLines>): string =>
  shownLines(explanationLines(...args));

const AT = '2026-05-04T10:00:00.000Z';
const quiet = { failures: 0, drift: { repairs: 0, writtenSteps: 0 } };

const full: Explanation = {
  service: 'shop/cart',
  known: true,
  problems: ['EndpointSlice shop/cart-abcde: endpoints[1] has no address'],
  families: [
    {
      family: 'IPv4',
      pending: true,
      ports: [
        {
          portName: 'http',
          protocol: 'TCP',
          status: { state: 'degraded', sinceTime: AT, reason: '10.96.0.1:80/TCP belongs to a/b' },
          frontends: [
            {
              kind: 'cluster-ip',
              address: '10.96.0.1',
              port: 80,
              policy: 'Cluster',
              outcome: 'held',
              reason: 'belongs to a/b',
            },
            {
              kind: 'node-port',
              port: 30080,
              policy: 'Local',
              outcome: 'drop',
              reason: 'the policy is Local',
            },
          ],
          endpoints: [
            {
              address: '10.1.1.1',
              port: 8080,
              used: true,
              local: true,
              ready: true,
              serving: true,
              terminating: false,
              zoneHints: ['a', 'b'],
              nodeHints: ['n1'],
            },
            {
              address: '10.1.1.2',
              port: 8080,
              used: false,
              local: false,
              ready: false,
              serving: true,
              terminating: true,
              zoneHints: [],
              nodeHints: [],
            },
          ],
          findings: [
            { kind: 'degraded', isFault: true, text: '10.96.0.1:80/TCP belongs to a/b' },
            { kind: 'other-zones', isFault: false, text: '1 ready endpoint is hinted for zone b' },
          ],
          affinitySeconds: 60,
          sourceRanges: ['198.51.100.0/24'],
        },
        {
          portName: '',
          protocol: 'UDP',
          status: { state: 'failed', sinceTime: AT, reason: 'EINVAL', attempts: 3 },
          frontends: [],
          endpoints: [],
          findings: [{ kind: 'failed', isFault: true, text: 'EINVAL' }],
          affinitySeconds: 0,
          sourceRanges: [],
        },
      ],
      healthCheck: { port: 32111, localEndpoints: 1, listening: false, problem: 'EADDRINUSE' },
      sync: {
        failures: 2,
        lastFailure: { time: AT, reason: 'netlink: EPERM' },
        drift: { repairs: 1, writtenSteps: 2, lastTime: AT },
      },
    },
    {
      family: 'IPv6',
      pending: false,
      ports: [],
      absence: { kind: 'no-cluster-ip', text: 'no cluster IP of this family' },
      sync: quiet,
    },
  ],
};

describe('explanationText', () => {
  it('shows everything, one line each', () => {
    expect(explanationText(full)).toBe(`shop/cart
  problem: EndpointSlice shop/cart-abcde: endpoints[1] has no address
  IPv4, changes wait for the next sync
    port http TCP: degraded since 2026-05-04T10:00:00.000Z: 10.96.0.1:80/TCP belongs to a/b
      cluster-ip 10.96.0.1:80 (Cluster): belongs to a/b
      node-port 30080 (Local): drop, the policy is Local
      endpoint 10.1.1.1:8080: used, on this node, ready, for zones a b, for nodes n1
      endpoint 10.1.1.2:8080: not used, not ready, terminating, still serving
      note: 1 ready endpoint is hinted for zone b
      clients stay with their endpoint for 60 s
      load-balancer IPs accept only 198.51.100.0/24
    port (unnamed) UDP: failed since 2026-05-04T10:00:00.000Z, 3 attempts: EINVAL
    health check on port 32111: not listening: EADDRINUSE; endpoints on this node: 1
    no sync has succeeded since 2026-05-04T10:00:00.000Z: netlink: EPERM
    rules that another program had changed were last repaired 2026-05-04T10:00:00.000Z
  IPv6
    no cluster IP of this family
`);
  });

  it('says once what makes a Service invalid', () => {
    const problems = ['Service shop/bad is ignored: no port', 'EndpointSlice shop/bad-x is ignored: no type'];
    const unserved = { kind: 'invalid', text: `its object is invalid: ${problems[0]}` } as const;
    expect(
      explanationText({ service: 'shop/bad', known: false, unserved, problems, families: full.families }),
    ).toBe(`shop/bad
  The proxy does not serve it: its object is invalid: Service shop/bad is ignored: no port.
  problem: EndpointSlice shop/bad-x is ignored: no type
`);
  });

  it('says why it is not served, and nothing else', () => {
    const unserved = { kind: 'absent', text: 'there is no such Service' } as const;
    const unknown = { service: 'shop/none', known: false, unserved, problems: [], families: full.families };
    expect(explanationText(unknown)).toBe(
      'shop/none\n  The proxy does not serve it: there is no such Service.\n',
    );
  });
});
