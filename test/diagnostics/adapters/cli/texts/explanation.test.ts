import type { Explanation } from '../../../../../src/diagnostics/application/explain/explanation.js';
import { explanationLines, isOk } from '../../../../../src/diagnostics/adapters/cli/commands/explain.js';
import { shownLines } from '../../../../support/shown-lines.js';

const explanationText = (...args: Parameters<typeof explanationLines>): string =>
  shownLines(explanationLines(...args));

const AT = '2026-05-04T10:00:00.000Z';
const quiet = { failures: 0, drift: { repairs: 0, writtenSteps: 0 } };

const full: Explanation = {
  service: 'shop/cart',
  known: true,
  verdict: {
    state: 'error',
    cause: 'ProgrammingFailed',
    reason: 'it cannot be programmed on the node: EINVAL',
    nextStep: 'check the proxy of the node: kubeproxy status',
  },
  objects: [
    {
      state: 'warning',
      cause: 'FieldIgnored',
      reason: 'EndpointSlice shop/cart-abcde: endpoints[1] has no address',
      nextStep: 'correct it',
    },
  ],
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
              outcome: 'conflict',
              state: 'warning',
              reason: 'belongs to a/b',
            },
            {
              kind: 'node-port',
              port: 30080,
              policy: 'Local',
              outcome: 'drop',
              state: 'ok',
              reason: 'the policy is Local',
            },
          ],
          endpoints: [
            {
              address: '10.1.1.1',
              port: 8080,
              used: true,
              unresponsive: false,
              ejected: false,
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
              unresponsive: false,
              ejected: false,
              local: false,
              ready: false,
              serving: true,
              terminating: true,
              zoneHints: [],
              nodeHints: [],
            },
          ],
          verdicts: [
            {
              state: 'warning',
              cause: 'FrontendConflict',
              reason: '10.96.0.1:80/TCP belongs to a/b',
              nextStep: 'choose another',
            },
            { state: 'warning', cause: 'OnlyTerminating', reason: 'no endpoint is ready', nextStep: 'look' },
            { state: 'ok', cause: 'OtherZones', reason: '1 ready endpoint is hinted for zone b' },
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
          verdicts: [
            {
              state: 'error',
              cause: 'ProgrammingFailed',
              reason: 'it cannot be programmed on the node: EINVAL',
            },
          ],
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
      absence: { state: 'ok', reason: 'no cluster IP of this family' },
      sync: quiet,
    },
  ],
};

describe('explanationText', () => {
  it('shows everything, one line each', () => {
    expect(explanationText(full)).toBe(`shop/cart: error: it cannot be programmed on the node: EINVAL
  next: check the proxy of the node: kubeproxy status
  warning: EndpointSlice shop/cart-abcde: endpoints[1] has no address; correct it
  IPv4, changes wait for the next sync
    port http TCP: degraded since 2026-05-04T10:00:00.000Z: 10.96.0.1:80/TCP belongs to a/b
      cluster-ip 10.96.0.1:80 (Cluster): belongs to a/b
      node-port 30080 (Local): drop, the policy is Local
      endpoint 10.1.1.1:8080: on this node: ready, used, for zones a b, for nodes n1
      endpoint 10.1.1.2:8080: not ready, terminating, still serving, not used
      warning: no endpoint is ready; look
      note: 1 ready endpoint is hinted for zone b
      clients stay with their endpoint for 60 s
      load-balancer IPs accept only 198.51.100.0/24
    port (unnamed) UDP: failed since 2026-05-04T10:00:00.000Z, 3 attempts: EINVAL
    health check on port 32111: not listening: EADDRINUSE; endpoints on the node: 1
    no sync has succeeded since 2026-05-04T10:00:00.000Z: netlink: EPERM
    changes by another program were last repaired 2026-05-04T10:00:00.000Z
  IPv6
    no cluster IP of this family
`);
  });

  it('shows once what makes a Service invalid', () => {
    const verdict = {
      state: 'error',
      cause: 'InvalidObject',
      reason: 'it is invalid and ignored: no port',
      nextStep: 'correct the object',
    } as const;
    const other = { ...verdict, reason: 'EndpointSlice shop/bad-x is invalid and ignored: no type' };
    const bad = { service: 'shop/bad', known: false, verdict, objects: [verdict, other] };
    expect(explanationText({ ...bad, families: full.families }))
      .toBe(`shop/bad: error: it is invalid and ignored: no port
  next: correct the object
  error: EndpointSlice shop/bad-x is invalid and ignored: no type; correct the object
`);
  });

  it('shows of a Service that is not served why, and nothing else', () => {
    const verdict = { state: 'ok', cause: 'Headless', reason: 'it is headless' } as const;
    const headless = { service: 'shop/db', known: false, verdict, objects: [], families: full.families };
    expect(explanationText(headless)).toBe('shop/db: ok: it is headless\n');
  });

  it('names EndpointSlices that may be meant for it', () => {
    const none = { ...full, known: false, objects: [], candidates: ['shop/cart-x (without the label)'] };
    expect(explanationText(none)).toContain(
      '  EndpointSlices that may be meant for it: shop/cart-x (without the label)\n',
    );
  });

  it('shows twenty endpoints, and all with -o wide', () => {
    const [family] = full.families;
    const [port] = family!.ports;
    const endpoints = Array.from({ length: 1_000 }, (_, index) => ({
      ...port!.endpoints[0]!,
      address: `10.1.${index >> 8}.${index & 255}`,
    }));
    const many = { ...full, families: [{ ...family!, ports: [{ ...port!, endpoints }] }] };
    const shown = (isWide: boolean): readonly string[] =>
      explanationText(many, isWide).match(/^ {6}(endpoint|and) .*$/gm)!;
    expect(shown(false)).toHaveLength(21);
    expect(shown(false).at(-1)).toBe('      and 980 more (-o wide)');
    expect(shown(true)).toHaveLength(1_000);
  });

  it('says once that connections cannot be counted', () => {
    const text = explanationText({ ...full, uncountedReason: 'connection tracking is unavailable: EPERM' });
    expect(text.match(/^.*connections without.*$/gm)).toEqual([
      '  connections without an answer are not counted: connection tracking is unavailable: EPERM',
    ]);
  });
});

it.each([
  ['ok', true],
  ['warning', false],
  ['error', false],
] as const)('an address with a frontend in the state %s is ok: %s', (state, expected) => {
  const frontend = { state };
  expect(isOk({ subject: '10.96.0.1', frontends: [frontend], endpoints: [] } as never)).toBe(expected);
});
