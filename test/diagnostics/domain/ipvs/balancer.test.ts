import {
  HASH_SOURCE_PORT,
  PERSISTENT,
  type RealServer,
  type VirtualServer,
} from '../../../../src/domain/ipvs/virtual-server.js';
import { walkIpvs } from '../../../../src/diagnostics/domain/ipvs-walk.js';
import { SavedRules } from '../../../../src/diagnostics/domain/iptables/saved-rules.js';
import type { Packet, PacketPath } from '../../../../src/diagnostics/domain/trace/trace.js';
import { parseSave } from '../../../support/iptables/parse-save.js';
import { ARRIVING, NODE, savedText, type RulesByTable } from '../../../support/iptables/walked.js';

const VIP = ARRIVING.destination;
const real = (address: string, weight = 1, port = 8080): RealServer => ({ address, port, weight });
const fromNode: Partial<Packet> = { inputInterface: undefined, source: '198.51.100.1' };

/** What becomes of a packet to a virtual server with these real servers. */
function balanced(
  realServers: readonly RealServer[],
  parts: Partial<VirtualServer> = {},
  packet: Partial<Packet> = {},
  tables: RulesByTable = {},
): readonly PacketPath[] {
  const server: VirtualServer = {
    ...{ address: VIP, protocol: 'TCP', port: 80, scheduler: 'rr', flags: 0, persistenceSeconds: 0 },
    ...parts,
  };
  const rules = new SavedRules(parseSave(savedText(tables), 'IPv4'), () => false);
  return walkIpvs(
    {
      rules,
      sets: new Map(),
      server: ({ protocol, port }) =>
        protocol === server.protocol && port === server.port ? { server, realServers } : undefined,
      addresses: new Set([VIP]),
    },
    { ...ARRIVING, ...packet },
    NODE,
  );
}

const shares = (endings: readonly PacketPath[]) =>
  Object.fromEntries(endings.map(({ endpoint, probability }) => [endpoint!.address, probability]));

describe('a virtual server', () => {
  it.each([
    ['rr', { '10.1.1.1': 0.5, '10.1.1.2': 0.5 }],
    ['wrr', { '10.1.1.1': 0.25, '10.1.1.2': 0.75 }],
    ['sh', { '10.1.1.1': 0.25, '10.1.1.2': 0.75 }],
    ['lc', { '10.1.1.1': 0.5, '10.1.1.2': 0.5 }],
    ['nq', { '10.1.1.1': 0.5, '10.1.1.2': 0.5 }],
  ])(
    'shares connections out by its scheduler, but not to real servers of weight 0: %s',
    (scheduler, expected) => {
      const reals = [real('10.1.1.1', 1), real('10.1.1.2', 3), real('10.1.1.3', 0)];
      expect(shares(balanced(reals, { scheduler }))).toEqual(expected);
    },
  );

  it('is told in the words of ipvsadm', () => {
    const [ending] = balanced([real('10.1.1.1'), real('10.1.1.2')], {
      flags: PERSISTENT,
      persistenceSeconds: 600,
    });
    expect(ending).toEqual({
      verdict: 'forward',
      endpoint: { address: '10.1.1.1', port: 8080 },
      probability: 0.5,
      masquerade: false,
      sticky: true,
      steps: [
        {
          hook: 'input',
          where: 'ipvs',
          rule: `-A -t ${VIP}:80 -s rr -p 600`,
          effect: 'sends it to 10.1.1.1:8080, 1 in 2 (rr)',
        },
      ],
    });
  });

  it.each([
    ['rr', 0, false],
    ['rr', PERSISTENT, true],
    ['sh', 0, true],
    ['mh', 0, true],
    ['mh', HASH_SOURCE_PORT, false],
    ['dh', 0, true],
  ])('keeps a client with %s and flags %i: %s', (scheduler, flags, sticky) => {
    expect(balanced([real('10.1.1.1')], { scheduler, flags })[0]!.sticky).toBe(sticky);
  });

  it.each([
    [[], 'rejected: it has no real server'],
    [[real('10.1.1.1', 0)], 'rejected: all its real servers have weight 0'],
  ])('refuses connections that it can send nowhere', (reals, effect) => {
    for (const packet of [{}, fromNode])
      expect(balanced(reals, {}, packet)).toMatchObject([{ verdict: 'reject', steps: [{ effect }] }]);
  });

  it('may serve all ports of its address', () => {
    const [ending] = balanced([real('10.1.1.1', 1, 0)], { port: 0 }, { destinationPort: 5432 });
    expect(ending).toMatchObject({ endpoint: { address: '10.1.1.1', port: 5432 } });
    expect(ending!.steps.at(-1)!.effect).toBe('sends it to 10.1.1.1:5432');
    expect(balanced([real('10.1.1.1')], {}, { protocol: 'UDP' })).toMatchObject([{ verdict: 'untouched' }]);
  });

  it('sends what it takes through OUTPUT and POSTROUTING, and not through FORWARD', () => {
    const tables = {
      mangle: ['-A POSTROUTING -d 10.1.1.1/32 -j MARK --set-xmark 0x1/0x1'],
      nat: [
        '-A PREROUTING -j ACCEPT',
        '-A INPUT -j DNAT --to-destination 10.9.9.9',
        '-A OUTPUT -j DNAT --to-destination 10.9.9.9',
        '-A POSTROUTING -m ipvs --vaddr 10.96.0.10 --vport 80 -m mark --mark 0x1 -j MASQUERADE',
      ],
      filter: ['-A FORWARD -j DROP', '-A INPUT -d 10.1.1.1/32 -j DROP', '-A OUTPUT -d 10.96.0.10/32 -j DROP'],
    };
    const [ending] = balanced([real('10.1.1.1')], {}, {}, tables);
    expect(ending).toMatchObject({ verdict: 'forward', endpoint: { address: '10.1.1.1' }, masquerade: true });
  });

  it('hands packets to a real server on this node itself', () => {
    const tables = {
      nat: ['-A POSTROUTING -j MASQUERADE'],
      filter: ['-A OUTPUT -d 198.51.100.1/32 -j DROP'],
    };
    const [ending] = balanced([real('198.51.100.1')], {}, {}, tables);
    expect(ending).toMatchObject({
      verdict: 'forward',
      endpoint: { address: '198.51.100.1' },
      masquerade: false,
    });
  });

  it('gets packets of the node itself from its own address, before table filter sees them', () => {
    const tables = {
      filter: [
        '-A OUTPUT -s 10.96.0.10/32 -d 10.1.1.1/32 -m ipvs --vproto 6 --vaddr 10.96.0.10 --vport 80 -j DROP',
      ],
    };
    expect(balanced([real('10.1.1.1')], {}, fromNode, tables)).toMatchObject([{ verdict: 'drop' }]);
    const toVip = { filter: ['-A OUTPUT -d 10.96.0.10/32 -j DROP'] };
    expect(balanced([real('10.1.1.1')], {}, fromNode, toVip)).toMatchObject([{ verdict: 'forward' }]);
    const own = balanced([real('198.51.100.1')], {}, fromNode, { filter: ['-A INPUT -i lo -j DROP'] });
    expect(own).toMatchObject([{ verdict: 'drop' }]);
  });
});
