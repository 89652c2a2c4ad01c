import type { Tracer } from '../../../../src/diagnostics/application/ports/tracer.js';
import { traceAnswer } from '../../../../src/diagnostics/application/trace/answer.js';
import { MachineView } from '../../../../src/diagnostics/application/trace/traced-node.js';
import { TracePackets } from '../../../../src/diagnostics/application/trace/trace-packets.js';
import { traceLines } from '../../../../src/diagnostics/adapters/cli/commands/trace.js';
import type { ForwardingEntry } from '../../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../../src/domain/forwarding/node-network.js';
import type { Packet, PacketPath } from '../../../../src/diagnostics/domain/trace/trace.js';
import { parseQuery } from '../../../../src/diagnostics/domain/trace/query.js';
import { MemoryForwarding } from '../../../support/memory-forwarding.js';
import { shownLines } from '../../../support/shown-lines.js';

const traceText = (...args: Parameters<typeof traceLines>): string => shownLines(traceLines(...args));

/** Where packets to these addresses go, and which address of the node they get. */
const routes: Readonly<Record<string, readonly [device: string, source: string]>> = {
  '10.244.1.5': ['veth1', '10.244.1.1'],
  '10.244.1.6': ['veth1', '10.244.1.1'],
  '10.244.2.6': ['eth0', '192.0.2.4'],
  '10.96.0.1': ['eth0', '192.0.2.4'],
  '203.0.113.77': ['eth0', '192.0.2.4'],
  '192.0.2.4': ['lo', '192.0.2.4'],
  '127.0.0.1': ['lo', '127.0.0.1'],
  '127.0.0.2': ['lo', '127.0.0.1'],
};
const untouched: PacketPath = {
  verdict: 'untouched',
  probability: 1,
  masquerade: false,
  sticky: false,
  steps: [],
};
const sent = (address: string, masquerade: boolean): PacketPath => ({
  ...untouched,
  verdict: 'forward',
  endpoint: { address, port: 8080 },
  probability: 0.5,
  masquerade,
});

let met: Packet[];
let asked: string[];
let forwarding: MemoryForwarding;
beforeEach(() => {
  forwarding = new MemoryForwarding();
  met = [];
  asked = [];
});

/** Of the endpoint 10.244.1.5:8080. */
const POD = { pod: 'cart-7f9', nodeName: 'n1', zone: 'a' };

/** Rules under which all packets end so. */
const packets = (...endings: readonly PacketPath[]) => packetsOn({}, ...endings);

function packetsOn(node: Partial<NodeNetwork>, ...endings: readonly PacketPath[]): TracePackets {
  const walk = {
    walk(packet: Packet) {
      met.push(packet);
      return endings;
    },
  };
  const tracer: Tracer = {
    desired: () => (asked.push('desired'), Promise.resolve(walk)),
    actual: () => (asked.push('actual'), Promise.resolve(walk)),
  };
  const to = (address: string) => {
    const [device, source] = routes[address] ?? [];
    return Promise.resolve(device === undefined ? undefined : { device, source: source! });
  };
  const entry = {
    name: { protocol: 'TCP' },
    frontends: [
      { kind: 'node-port', port: 30080 },
      { kind: 'cluster-ip', address: '10.96.0.1', port: 80 },
    ],
    endpoints: { reachable: [{ address: '10.244.1.5', port: 8080, ...POD }] },
    healthCheckNodePort: 0,
  };
  const traced = {
    network: { family: 'IPv4', serviceCIDRs: [], ...node } as never,
    view: new MachineView(new Set(['192.0.2.4', '127.0.0.1']), { to }, forwarding),
    tracer,
    podCIDRs: [],
    entries: () => [entry as unknown as ForwardingEntry],
  };
  return new TracePackets([traced], {
    rejection: ({ destination }) => `of ${destination}`,
    ejected: ({ destinationPort }) => (destinationPort === 81 ? ['an endpoint steps aside'] : []),
  });
}

const drop = { hook: 'forward', where: 'inet guard f', rule: 'tcp dport 8080 drop', effect: 'drop' };
const dropped: PacketPath = { ...untouched, verdict: 'drop', steps: [drop] };
const droppedByOthers: PacketPath = { ...dropped, steps: [{ ...drop, foreign: true }] };

const trace = (from: string, to: string, ...endings: readonly PacketPath[]) =>
  packets(...endings).trace(parseQuery(from, to), 'desired');

describe('why a packet is not forwarded', () => {
  it.each([
    ['as the proxy wants it', [dropped], { reason: 'of 10.96.0.1' }],
    [
      'because of another program, always or by chance',
      [sent('10.244.1.5', false), droppedByOthers],
      {
        reason: 'a rule of another program, in inet guard f: tcp dport 8080 drop',
        stoppedBy: { ...drop, foreign: true },
      },
    ],
    ['not at all', [sent('10.244.1.5', false)], {}],
  ])('%s', async (_, endings, why) => {
    const whole = await trace('10.244.1.5', '10.96.0.1:80', ...endings);
    expect(traceAnswer(whole, '')).toBe(whole);
    const { reason, stoppedBy, ...answer } = whole;
    expect({ ...(reason && { reason }), ...(stoppedBy && { stoppedBy }) }).toEqual(why);
    const text = traceText({ ...answer, ...(reason && { reason }) }, 'desired', false);
    expect(text.includes(`\n  because ${reason}\n`)).toBe(reason !== undefined);
  });

  it('because the machine itself has no route, or nobody listens', async () => {
    expect((await trace('node', '198.18.9.9:80')).reason).toMatch(/^no route to 198\.18\.9\.9/);
    expect((await trace('10.244.1.5', '192.0.2.4:30080', untouched)).reason).toMatch(/^a node port that/);
  });
});

describe('trace', () => {
  it('names the pods of endpoints', async () => {
    const answer = await trace('node', '10.96.0.1:80', sent('10.244.1.5', true), sent('10.244.1.6', true));
    expect(answer.endpoints).toEqual([
      { address: '10.244.1.5', port: 8080, ...POD, probability: 0.5 },
      { address: '10.244.1.6', port: 8080, probability: 0.5 },
    ]);
    expect(traceText(answer, 'desired', false)).toContain(
      '   50.0 %  pod cart-7f9 (10.244.1.5:8080)\n   50.0 %  10.244.1.6:8080\n',
    );
  });

  it.each([
    ['10.244.1.5', '10.244.1.5', 'veth1'],
    ['node', '192.0.2.4', undefined],
    ['192.0.2.4', '192.0.2.4', undefined],
    ['127.0.0.1', '127.0.0.1', undefined],
    ['outside', '203.0.113.77', 'eth0'],
    ['outside:10.244.2.6', '10.244.2.6', 'eth0'],
    ['10.99.0.1', '10.99.0.1', '(unknown)'],
  ])('from %s sends a packet of %s through %s', async (from, source, inputInterface) => {
    await trace(from, '10.96.0.1:80', untouched);
    expect(met).toEqual([expect.objectContaining({ source, inputInterface, destination: '10.96.0.1' })]);
  });

  it.each([
    ['10.244.1.5', [true, true], 'always'],
    ['10.244.1.5', [false, true], 'mixed'],
    // Towards the pod of this node the node sends from another address than towards the service.
    ['node', [true, true], 'mixed'],
    ['node', [false, true], 'never'],
    ['node', [true, false], 'always'],
  ] as const)('from %s with masquerade %j rewrites the source: %s', async (from, [local, far], expected) => {
    const answer = await trace(from, '10.96.0.1:80', sent('10.244.1.5', local), sent('10.244.2.6', far));
    expect([answer.outcome, answer.sourceRewrite]).toEqual([
      'forward',
      from === 'node' && local && !far ? 'mixed' : expected,
    ]);
  });

  it('rewrites the source of what is sent from loopback', async () => {
    const answer = await trace('node', '127.0.0.1:30080', sent('10.244.1.5', true));
    expect([met[0]!.source, answer.sourceRewrite]).toEqual(['127.0.0.1', 'always']);
  });

  it.each([
    ['10.244.1.5', '192.0.2.4:30080', 'reject', 'a node port that this address does not serve'],
    ['10.244.1.5', '192.0.2.4:30080/UDP', 'untouched', 'goes to the process'],
    ['10.244.1.5', '192.0.2.4:22', 'untouched', 'goes to the process'],
    ['node', '127.0.0.1:30080', 'reject', 'a node port that this address does not serve'],
    ['10.244.1.5', '127.0.0.1:80', 'drop', 'the kernel drops packets to loopback'],
    ['node', '10.97.0.1:80', 'reject', 'no route to 10.97.0.1'],
  ])('from %s to %s, where no rule takes it, ends %s', async (from, to, outcome, effect) => {
    const answer = await trace(from, to, untouched);
    expect(answer.outcome).toBe(outcome);
    expect(answer.steps.at(-1)!.effect).toContain(effect);
  });

  it.each([
    ['127.0.0.1:30080', 'untouched', 'goes to the proxy itself'],
    ['127.0.0.2:30080', 'reject', 'a node port that this address does not serve'],
    ['127.0.0.1:22', 'untouched', 'goes to the process that listens there'],
    ['127.0.0.1:30080/UDP', 'untouched', 'goes to the process that listens there'],
  ])('from the node to %s, where the proxy relays node ports, ends %s', async (to, outcome, effect) => {
    const relaying = packetsOn({ loopbackNodePorts: 'relayed' }, untouched);
    const answer = await relaying.trace(parseQuery('node', to), 'desired');
    expect([answer.outcome, answer.steps.at(-1)!.effect]).toEqual([outcome, expect.stringContaining(effect)]);
  });

  it('leaves packets to elsewhere as they are', async () => {
    expect(await trace('10.244.1.5', '10.96.0.1:80', untouched)).toMatchObject({
      outcome: 'untouched',
      steps: [],
    });
  });

  it('compiles the rules once, and reads those of the kernel each time', async () => {
    const several = packets(untouched);
    const query = parseQuery('10.244.1.5', '10.96.0.1:80');
    for (const rules of ['desired', 'desired', 'actual', 'actual'] as const)
      await several.trace(query, rules);
    expect(asked).toEqual(['desired', 'actual', 'actual']);
  });

  it('is over when it is ended while the rules are read', async () => {
    const query = parseQuery('10.244.1.5', '10.96.0.1:80');
    for (const rules of ['desired', 'actual'] as const) {
      const leaving = AbortSignal.abort(new Error('nobody waits any more'));
      await expect(packets(untouched).trace(query, rules, leaving)).rejects.toThrow('nobody waits any more');
    }
    expect(met).toEqual([]);
  });

  it('says that it does not serve a family', async () => {
    await expect(trace('node', '[fd00::1]:80', untouched)).rejects.toThrow('this proxy does not serve IPv6');
  });
});

describe('the text of an answer', () => {
  it('shows the way of the packet, then what becomes of it', async () => {
    const steps = [
      {
        hook: 'prerouting',
        where: 'ip kube-proxy services',
        rule: 'ip daddr @cluster-ips meta mark set meta mark | 0x00004000',
        effect: 'marks it to be masqueraded',
        servicePort: 'shop/cart:http',
      },
      { hook: 'forward', where: 'ip fw f', rule: 'accept', effect: 'accepts it', foreign: true as const },
      { hook: 'postrouting', where: 'ip kube-proxy nat', rule: '', effect: 'lets it pass' },
    ];
    const ending = { ...sent('10.244.1.5', true), probability: 1, sticky: true, steps };
    const answer = await trace('10.244.2.6', '10.96.0.1:80', ending);
    expect(traceText(answer, 'actual', false)).toBe(`\
10.244.2.6 → 10.96.0.1:80/TCP, coming in through eth0, by the kernel's rules
  prerouting: ip kube-proxy services  (shop/cart:http)
    ip daddr @cluster-ips meta mark set meta mark | 0x00004000
    → marks it to be masqueraded
  forward: ip fw f  (rule of another program)
    accept
    → accepts it
  postrouting: ip kube-proxy nat
    → lets it pass
outcome: forward
  100.0 %  pod cart-7f9 (10.244.1.5:8080)
source: rewritten to an address of this node
  because of ip kube-proxy services: ip daddr @cluster-ips meta mark set meta mark | 0x00004000
affinity: the same client gets the same endpoint again
note: the endpoint sees an address of this node, so its replies come back here, and are sent on to the client
`);
  });

  it('notes which endpoints behind the destination step aside, before how replies go', async () => {
    const endings = [sent('10.244.2.6', true)];
    const answer = await trace('10.244.2.6', '10.96.0.1:81', ...endings);
    expect(answer.remarks).toEqual(['an endpoint steps aside', expect.stringContaining('replies')]);
    expect(traceText(answer, 'actual', false)).toContain('\nnote: an endpoint steps aside\n');
    expect((await trace('10.244.2.6', '10.96.0.1:80', ...endings)).remarks).toHaveLength(1);
  });

  it('is short, unless it is asked for all', async () => {
    const steps = Array.from({ length: 40 }, (_, place) => ({
      hook: 'prerouting',
      where: 'ip t c',
      rule: `rule ${place}`,
      effect: 'acts',
    }));
    const answer = await trace('10.244.2.6', '10.96.0.1:80', { ...untouched, verdict: 'drop', steps });
    expect(traceText(answer, 'desired', false)).toContain('… 24 more steps; -o wide shows all');
    expect(traceText(answer, 'desired', true)).toContain('rule 39');
  });

  it('has what is alike for many endpoints once', async () => {
    const endings = Array.from({ length: 10 }, (_, number) => ({
      ...sent(`10.244.1.${number}`, true),
      probability: 0.1,
      steps: [
        {
          hook: 'prerouting',
          where: 'ip t pick',
          rule: 'dnat to map @endpoints',
          effect: `sends it to 10.244.1.${number}:8080`,
          servicePort: 'shop/cart:http',
        },
      ],
    }));
    const answer = await trace('10.244.2.6', '10.96.0.1:80', ...endings);
    const short = traceText(answer, 'desired', false);
    expect(short).toContain(`
    → sends it to 10.244.1.0:8080
    … and 9 more like it, for other endpoints
`);
    expect(short).toContain(
      '\n   10.0 %  each of 10 endpoints, such as 10.244.1.0:8080; -o wide names them\nsource',
    );
    const wide = traceText(answer, 'desired', true);
    expect(wide).toContain('→ sends it to 10.244.1.9:8080');
    expect(wide).toContain('   10.0 %  10.244.1.9:8080');
  });
});

describe('settings of the kernel', () => {
  const OFF = 'net.ipv4.ip_forward is 0';
  const outcome = async (from: string, to: string, ...endings: readonly PacketPath[]) => {
    const { outcome: what, endpoints, reason, stoppedBy } = await trace(from, to, ...endings);
    return [what, endpoints.length, reason?.split(':')[0], stoppedBy?.hook];
  };

  it.each(['IPv4', 'veth1', 'eth0'])('keep packets from being forwarded: of %s', async (place) => {
    forwarding.off.set(place, OFF);
    const stopped = ['drop', 0, OFF, 'routing'];
    expect(await outcome('10.244.1.5', '10.96.0.1:80', sent('10.244.2.6', true))).toEqual(stopped);
    expect(await outcome('10.244.1.5', '203.0.113.77:80', untouched)).toEqual(stopped);
  });

  it('do not matter to packets of the node, nor to those for its own addresses', async () => {
    forwarding.off.set('IPv4', OFF);
    expect((await outcome('node', '10.96.0.1:80', sent('10.244.1.5', true)))[0]).toBe('forward');
    expect((await outcome('10.244.1.5', '10.96.0.1:80', sent('192.0.2.4', false)))[0]).toBe('forward');
    expect(
      (await outcome('10.244.1.5', '10.96.0.1:80', sent('192.0.2.4', false), sent('10.244.2.6', false)))[0],
    ).toBe('mixed');
    expect((await outcome('10.244.1.5', '10.96.0.1:80', { ...untouched, verdict: 'reject' }))[0]).toBe(
      'reject',
    );
  });

  it('keep replies on one bridge from the rules, unless the client is masqueraded', async () => {
    forwarding.unfiltered.set('veth1', 'net.bridge.bridge-nf-call-iptables is 0');
    const to = '10.96.0.1:80';
    const stopped = ['drop', 0, 'net.bridge.bridge-nf-call-iptables is 0', 'routing'];
    expect(await outcome('10.244.1.5', to, sent('10.244.1.6', false))).toEqual(stopped);
    for (const ending of [sent('10.244.1.6', true), sent('10.244.2.6', false)])
      expect((await outcome('10.244.1.5', to, ending))[0]).toBe('forward');
    expect((await outcome('10.244.2.6', to, sent('10.244.1.6', false)))[0]).toBe('forward');
    expect((await outcome('10.244.1.5', '10.244.1.6:80', untouched))[0]).toBe('untouched');
  });
});
