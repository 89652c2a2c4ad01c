import type { IpvsBackend } from '../../../src/adapters/ipvs/ipvs-backend.js';
import type { Service } from '../../../src/domain/model/service.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { endpoint } from '../../support/samples.js';
import { MemoryNode, nodeNetwork } from './memory-node.js';
import { changed, entryOf, gone, keyOf } from './services.js';

const network = nodeNetwork();
let node: MemoryNode;
let backend: IpvsBackend;
beforeEach(() => {
  node = new MemoryNode();
  backend = node.backend();
});

async function started(...entries: Parameters<IpvsBackend['start']>[0][]): Promise<void> {
  const { failed } = await backend.start(
    entries.flatMap((list) => [...list]),
    network,
  );
  expect(failed).toEqual([]);
  node.takeJournal();
}

const foreign = {
  address: '198.51.100.1',
  protocol: 'TCP',
  port: 80,
  scheduler: 'rr',
  flags: 0,
  persistenceSeconds: 0,
} as const;

const LOAD_BALANCER: Partial<Service> = {
  loadBalancerIPs: [parseAddress('203.0.113.80')!],
  sourceRanges: [parseCidr('198.51.100.0/24')!],
};

describe('the order of things', () => {
  it('is members, rules, virtual servers, addresses when a service comes; the other way round when it goes', async () => {
    await started([]);
    await backend.apply(changed(entryOf('a', [1], LOAD_BALANCER)), network);
    expect(node.takeJournal()).toEqual([
      'add KUBE-CLUSTER-IP 10.96.0.1,tcp:80',
      'add KUBE-LOAD-BALANCER 203.0.113.80,tcp:80',
      'add KUBE-LOAD-BALANCER-SOURCE-CIDR 203.0.113.80,tcp:80,198.51.100.0/24',
      'add KUBE-IPVS-IPS 10.96.0.1',
      'add KUBE-IPVS-IPS 203.0.113.80',
      'restore',
      'add KUBE-LOAD-BALANCER-FW 203.0.113.80,tcp:80',
      'add 10.96.0.1:80/TCP rr',
      'add-real 10.96.0.1:80/TCP 10.244.1.1:8080 1',
      'add 203.0.113.80:80/TCP rr',
      'add-real 203.0.113.80:80/TCP 10.244.1.1:8080 1',
      'add 10.96.0.1',
      'add 203.0.113.80',
    ]);
    await backend.apply(gone('a'), network);
    expect(node.takeJournal()).toEqual([
      'remove 10.96.0.1',
      'remove 203.0.113.80',
      'delete 10.96.0.1:80/TCP',
      'delete 203.0.113.80:80/TCP',
      'delete KUBE-LOAD-BALANCER-FW 203.0.113.80,tcp:80',
      'delete KUBE-IPVS-IPS 203.0.113.80',
      'delete KUBE-IPVS-IPS 10.96.0.1',
      'delete KUBE-LOAD-BALANCER-SOURCE-CIDR 203.0.113.80,tcp:80,198.51.100.0/24',
      'delete KUBE-LOAD-BALANCER 203.0.113.80,tcp:80',
      'delete KUBE-CLUSTER-IP 10.96.0.1,tcp:80',
      'restore',
    ]);
  });

  it('leaves the rules for last where those of mode iptables serve until then', async () => {
    node.servedByIptables = true;
    await backend.start([entryOf('a')], network);
    const journal = node.takeJournal();
    expect(journal.indexOf('restore')).toBe(journal.length - 1);
    expect(journal).toContain('add 10.96.0.1');
  });
});

describe('what a change costs', () => {
  it('is what it changes', async () => {
    await started([entryOf('a'), entryOf('b', [2])]);
    const { written } = await backend.apply(changed(entryOf('a', [1, 3])), network);
    expect(node.takeJournal()).toEqual(['add-real 10.96.0.1:80/TCP 10.244.1.3:8080 1']);
    expect(written).toBe(1);
    expect(node.servers.lists).toBe(1);
  });

  it('is nothing when nothing changes', async () => {
    await started([entryOf('a')]);
    expect(await backend.apply(changed(entryOf('a')), network)).toMatchObject({ written: 0, failed: [] });
    expect(await backend.apply([], { ...network })).toMatchObject({ written: 0 });
    expect(node.takeJournal()).toEqual([]);
  });

  it('is one step for an address, or a member, that two services share', async () => {
    const shared = { ...LOAD_BALANCER, sourceRanges: [] };
    await started([entryOf('a', [1], shared)]);
    const other = { ...shared, ports: [{ name: '', protocol: 'TCP', port: 81, nodePort: 0 }] } as const;
    await backend.apply(changed(entryOf('b', [1], other)), network);
    expect(node.takeJournal().filter((step) => step.includes('203.0.113.80'))).toEqual([
      'add KUBE-LOAD-BALANCER 203.0.113.80,tcp:81',
      'add 203.0.113.80:81/TCP rr',
      'add-real 203.0.113.80:81/TCP 10.244.1.1:8080 1',
    ]);
    await backend.apply(gone('a'), network);
    expect(node.addresses.all).toEqual(['10.96.0.2', '203.0.113.80']);
  });

  it('is a set call, and no outage, when a virtual server is to choose otherwise', async () => {
    await started([entryOf('a')]);
    await backend.apply(changed(entryOf('a', [1], { affinitySeconds: 60, scheduler: 'sh' })), network);
    expect(node.takeJournal()).toEqual(['set 10.96.0.1:80/TCP sh']);
    expect(node.servers.all[0]!.server).toMatchObject({ scheduler: 'sh', flags: 1, persistenceSeconds: 60 });
  });
});

describe('the addresses of the node', () => {
  const nodePort = entryOf('a', [1], { ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }] });

  it('take node ports as they come, and let them go as they go', async () => {
    await started([nodePort, entryOf('b')]);
    const more = nodeNetwork('IPv4', { nodeAddresses: ['192.0.2.11', '192.0.2.12'] });
    await backend.apply([], more);
    expect(node.takeJournal()).toEqual([
      'add 192.0.2.12:30080/TCP rr',
      'add-real 192.0.2.12:30080/TCP 10.244.1.1:8080 1',
    ]);
    await backend.apply([], network);
    expect(node.takeJournal()).toEqual(['delete 192.0.2.12:30080/TCP']);
  });

  it('are not bound as service addresses, from the moment that they are there', async () => {
    await started([entryOf('a', [1], { externalIPs: [parseAddress('198.18.0.9')!] })]);
    expect(node.addresses.all).toContain('198.18.0.9');
    await backend.apply([], nodeNetwork('IPv4', { nodeAddresses: ['192.0.2.11', '198.18.0.9'] }));
    expect(node.takeJournal()).toEqual(['remove 198.18.0.9', 'delete KUBE-IPVS-IPS 198.18.0.9']);
  });
});

describe('what is refused', () => {
  it('is one virtual server: reported, the others are programmed, and it comes when asked again', async () => {
    node.servers.refuse((step) => (step.server.address === '10.96.0.2' ? 'ENOMEM' : undefined));
    const entries = ['a', 'b', 'c'].map((name) => entryOf(name));
    const { failed } = await backend.start(entries, network);
    expect(failed).toEqual([{ key: keyOf('b'), reason: 'add 10.96.0.2:80/TCP rr: ENOMEM' }]);
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.1:80/TCP', '10.96.0.3:80/TCP']);
    expect(node.addresses.all).toEqual(['10.96.0.1', '10.96.0.3']);
    node.servers.refuse(() => undefined);
    expect(await backend.apply(changed(entries[1]!), network)).toMatchObject({ failed: [] });
    expect(node.servers.weights['10.96.0.2:80/TCP']).toEqual({ '10.244.1.1:8080': 1 });
    expect(node.addresses.all).toContain('10.96.0.2');
  });

  it('is one endpoint: its neighbours are programmed', async () => {
    node.servers.refuse((step) =>
      'real' in step && step.real.address.endsWith('.2') ? 'EINVAL' : undefined,
    );
    const { failed } = await backend.start([entryOf('a', [1, 2, 3])], network);
    expect(failed.map(({ key }) => key)).toEqual([keyOf('a')]);
    expect(node.servers.weights['10.96.0.1:80/TCP']).toEqual({ '10.244.1.1:8080': 1, '10.244.1.3:8080': 1 });
  });

  it('is a member: no virtual server stands open without it', async () => {
    node.sets.refuse((step) =>
      step.kind === 'add' && step.set === 'KUBE-LOAD-BALANCER-SOURCE-CIDR' ? 'Hash is full' : undefined,
    );
    const { failed } = await backend.start([entryOf('a', [1], LOAD_BALANCER), entryOf('b')], network);
    expect(failed).toEqual([
      {
        key: keyOf('a'),
        reason: 'add KUBE-LOAD-BALANCER-SOURCE-CIDR 203.0.113.80,tcp:80,198.51.100.0/24: Hash is full',
      },
    ]);
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.2:80/TCP']);
  });

  it('is a member of a service that is served: its endpoints are followed all the same', async () => {
    await started([entryOf('a', [1])]);
    node.sets.refuse((step) => (step.kind === 'add' ? 'Hash is full' : undefined));
    const local = endpoint('10.244.1.7', { isLocal: true });
    const { failed } = await backend.apply(changed(entryOf('a', [local])), network);
    expect(failed).toHaveLength(1);
    expect(node.servers.weights['10.96.0.1:80/TCP']).toEqual({ '10.244.1.7:8080': 1 });
  });

  it('is an address: reported, and bound when asked again', async () => {
    node.addresses.refuse(() => 'ENOBUFS');
    const { failed } = await backend.start([entryOf('a')], network);
    expect(failed).toEqual([{ key: keyOf('a'), reason: 'add 10.96.0.1: ENOBUFS' }]);
    node.addresses.refuse(() => undefined);
    await backend.apply(changed(entryOf('a')), network);
    expect(node.addresses.all).toEqual(['10.96.0.1']);
  });

  it('is a rule of one service: it is blamed', async () => {
    node.iptables.refuse((line) => (line.includes('-m ipvs') ? 'No such file or directory' : undefined));
    const { failed } = await backend.start([entryOf('a', [1], LOAD_BALANCER), entryOf('b')], network);
    expect(failed).toEqual([{ key: keyOf('a'), reason: expect.stringContaining('--vaddr 203.0.113.80') }]);
    expect(node.rules('nat', 'KUBE-SERVICES')!.length).toBeGreaterThan(2);
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.2:80/TCP']);
  });

  it('is a removal: said, and made up for at the next glance', async () => {
    await started([entryOf('a'), entryOf('b')]);
    node.servers.refuse((step) => (step.kind === 'delete' ? 'EBUSY' : undefined));
    expect(await backend.apply(gone('a'), network)).toMatchObject({ failed: [] });
    expect(node.logger.at('warn').map(({ facts }) => facts)).toEqual([
      { family: 'IPv4', reason: 'delete 10.96.0.1:80/TCP: EBUSY' },
    ]);
    node.servers.refuse(() => undefined);
    expect(await backend.verify('glance')).toMatchObject({ written: 1, failed: [] });
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.2:80/TCP']);
  });

  it('is what memory was wrong about: read back and done', async () => {
    await started([entryOf('a')]);
    node.servers.tamper({ kind: 'delete', server: { ...foreign, address: '10.96.0.1' } });
    expect(await backend.apply(changed(entryOf('a', [2])), network)).toMatchObject({ failed: [] });
    expect(node.servers.weights['10.96.0.1:80/TCP']).toEqual({ '10.244.1.2:8080': 1 });
    node.addresses.tamper(undefined);
    expect(await backend.apply(changed(entryOf('b')), network)).toMatchObject({ failed: [] });
    expect(node.addresses.all).toContain('10.96.0.2');
  });

  it('cannot be compiled: reported, and the others are programmed', async () => {
    const poisoned = {
      ...entryOf('a'),
      frontends: [{ ...entryOf('a').frontends[0]!, address: '1; reboot' }],
    };
    const { failed } = await backend.start([poisoned, entryOf('b')], network);
    expect(failed).toEqual([{ key: keyOf('a'), reason: expect.stringContaining('cannot be compiled') }]);
    expect(node.addresses.all).toEqual(['10.96.0.2']);
  });

  it('is everything: the call rejects, and may be made again', async () => {
    for (const part of [node.servers, node.addresses, node.sets, node.iptables]) {
      part.fail(new Error('gone'));
      await expect(backend.start([entryOf('a')], network)).rejects.toThrow('gone');
      part.fail(undefined);
    }
    expect(await backend.start([entryOf('a')], network)).toMatchObject({ failed: [] });
    expect(node.addresses.all).toEqual(['10.96.0.1']);
  });

  it('is a set of another kind under one of our names', async () => {
    node.sets.makeForeign('KUBE-CLUSTER-IP', 'list:set size 8');
    await expect(backend.start([], network)).rejects.toThrow(
      /KUBE-CLUSTER-IP \(list:set size 8\).*ipset destroy/,
    );
  });
});

describe('a scheduler that the kernel lacks', () => {
  it('leaves the service with the default, and a note', async () => {
    const wanting = entryOf('a', [1], { scheduler: 'wonder' });
    const { failed, notes } = await backend.start([wanting], network);
    expect(failed).toEqual([]);
    expect(notes).toEqual([{ key: keyOf('a'), note: 'this kernel has no IPVS scheduler wonder; using rr' }]);
    expect(node.servers.all[0]!.server.scheduler).toBe('rr');
    node.servers.schedulers.add('wonder');
    expect(await backend.apply(changed(wanting), network)).toMatchObject({ notes: [], written: 1 });
    expect(node.servers.all[0]!.server.scheduler).toBe('wonder');
  });
});

describe('what somebody else changes', () => {
  it('is put right alone', async () => {
    await started([entryOf('a'), entryOf('b')]);
    const a = { ...foreign, address: '10.96.0.1' };
    node.servers.tamper({ kind: 'delete', server: a });
    node.sets.tamper({ kind: 'delete', set: 'KUBE-CLUSTER-IP', member: '10.96.0.1,tcp:80' });
    node.addresses.tamper(['10.96.0.2']);
    node.iptables.tamper('IPv4', '*nat\n-D KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000\nCOMMIT\n');
    expect(await backend.verify('inspection')).toMatchObject({ compared: true, failed: [] });
    expect(node.takeJournal()).toEqual([
      'add KUBE-CLUSTER-IP 10.96.0.1,tcp:80',
      'add 10.96.0.1:80/TCP rr',
      'add-real 10.96.0.1:80/TCP 10.244.1.1:8080 1',
      'add 10.96.0.1',
      'restore',
    ]);
    expect(await backend.verify('inspection')).toMatchObject({ compared: true, written: 0 });
    expect(await backend.verify('glance')).toMatchObject({ compared: false, written: 0 });
  });

  it('is removed where it was added, real servers and whole virtual servers', async () => {
    await started([entryOf('a')]);
    const server = { ...foreign, address: '10.96.0.1' };
    node.servers.tamper(
      { kind: 'add-real', server, real: { address: '10.9.9.9', port: 80, weight: 5 } },
      { kind: 'set-real', server, real: { address: '10.244.1.1', port: 8080, weight: 3 } },
      { kind: 'add', server: foreign },
    );
    node.addresses.tamper(['10.96.0.1', '10.9.9.9']);
    expect(await backend.verify('inspection')).toMatchObject({ written: 5 });
    expect(node.servers.weights).toEqual({ '10.96.0.1:80/TCP': { '10.244.1.1:8080': 1 } });
    expect(node.addresses.all).toEqual(['10.96.0.1']);
  });

  it('is left alone at the addresses that are excluded', async () => {
    backend = node.backend('IPv4', { excludeCIDRs: [parseCidr('198.51.100.0/24')!] });
    node.servers.tamper({ kind: 'add', server: foreign });
    await started([entryOf('a')]);
    expect(Object.keys(node.servers.weights)).toContain('198.51.100.1:80/TCP');
    expect(await backend.verify('inspection')).toMatchObject({ written: 0 });
  });

  it('is left alone where it is of the other family', async () => {
    node.servers.tamper({ kind: 'add', server: { ...foreign, address: '2001:db8::1' } });
    await started([entryOf('a')]);
    expect(Object.keys(node.servers.weights)).toContain('[2001:db8::1]:80/TCP');
  });

  it('is not compared any further when something more urgent comes', async () => {
    await started([entryOf('a')]);
    node.addresses.tamper([]);
    await expect(backend.verify('inspection', AbortSignal.abort(new Error('hurry')))).rejects.toThrow(
      'hurry',
    );
    expect(node.takeJournal()).toEqual([]);
  });
});

describe('what a former process left', () => {
  const udp = (nodePort = 0): Partial<Service> => ({
    ports: [{ name: '', protocol: 'UDP', port: 53, nodePort }],
  });

  it('of UDP and led to endpoints, and is removed by the start, is told', async () => {
    const kept = entryOf('a', [1], udp());
    const excluded = entryOf('b', [1], { ...udp(), externalIPs: [parseAddress('198.51.100.9')!] });
    await started([kept, excluded, entryOf('c', [1], udp(30053)), entryOf('d', [], udp()), entryOf('e')]);
    const excludeCIDRs = [parseCidr('198.51.100.0/24')!];
    node.iptables.reopen();
    const { lost } = await node.backend('IPv4', { excludeCIDRs }).start([kept], network);
    expect(lost).toEqual([
      { address: '10.96.0.2', port: 53 },
      { address: '10.96.0.3', port: 53 },
      { address: '192.0.2.11', port: 30053 },
    ]);
  });
});

describe('what nothing explains, where not everything could be read', () => {
  const incomplete = { keepUnexplained: true };
  const external = { externalIPs: [parseAddress('198.51.100.9')!] };
  const members = () =>
    node.sets.names.flatMap((set) => node.sets.members(set)!.map((one) => `${set} ${one}`));

  it('is kept, with the rules for its sets, and its endpoints keep their weight', async () => {
    await started([entryOf('a'), entryOf('b', [2], external)]);
    const before = [members(), node.servers.weights, node.addresses.all, node.rules('nat', 'KUBE-SERVICES')];
    backend = node.reopened();
    expect(await backend.start([entryOf('a')], network, incomplete)).toMatchObject({ written: 0 });
    expect(await backend.verify('inspection')).toMatchObject({ written: 0 });
    expect([members(), node.servers.weights, node.addresses.all, node.rules('nat', 'KUBE-SERVICES')]).toEqual(
      before,
    );
  });

  it('is kept with the rule that keeps this node out, which names no service, until everything was read', async () => {
    const denied = () => node.rules('filter', 'KUBE-IPVS-OUT-FILTER');
    const restricted = entryOf('b', [2], LOAD_BALANCER);
    await started([entryOf('a'), restricted]);
    const before = denied();
    expect(before).toHaveLength(1);
    backend = node.reopened();
    await backend.start([entryOf('a')], network, incomplete);
    expect(denied()).toEqual(before);
    await backend.apply(changed(restricted), network);
    // Kept, and written for the Service as well: it does not say whose it was.
    expect(new Set(denied())).toEqual(new Set(before));
    expect(await backend.verify('comparison')).toMatchObject({ written: 0 });
    await backend.start([entryOf('a')], network);
    expect(denied()).toEqual([]);
  });

  it('is explained by the frontend that it belongs to: what that has no more goes, at the start or later', async () => {
    const local = { ...external, externalPolicyLocal: true };
    await started([entryOf('a', [1], local), entryOf('b')]);
    backend = node.reopened();
    await backend.start([entryOf('a', [1], external)], network, incomplete);
    expect(members()).toContain('KUBE-EXTERNAL-IP 198.51.100.9,tcp:80');
    expect(members().filter((one) => one.startsWith('KUBE-EXTERNAL-IP-LOCAL'))).toEqual([]);

    await started([entryOf('a', [1], local), entryOf('b')]);
    backend = node.reopened();
    await backend.start([entryOf('b')], network, incomplete);
    expect(members()).toContain('KUBE-EXTERNAL-IP-LOCAL 198.51.100.9,tcp:80');
    await backend.apply(changed(entryOf('a', [1], external)), network);
    expect(members().filter((one) => one.startsWith('KUBE-EXTERNAL-IP-LOCAL'))).toEqual([]);
    await backend.apply(gone('a'), network);
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.2:80/TCP']);
    expect(node.addresses.all).toEqual(['10.96.0.2']);
  });
});

describe('two services that claim one frontend', () => {
  it('are both told; the first by name has it, and the other one after it', async () => {
    const claiming = (name: string, last: number) =>
      entryOf(name, [last], { externalIPs: [parseAddress('198.18.0.9')!] });
    const { conflicts } = await backend.start([claiming('b', 2), claiming('a', 1)], network);
    const conflict = { frontend: '198.18.0.9:80/TCP', holder: keyOf('a'), loser: keyOf('b') };
    expect(conflicts).toContainEqual(conflict);
    expect(node.servers.weights['198.18.0.9:80/TCP']).toEqual({ '10.244.1.1:8080': 1 });
    await backend.apply(gone('a'), network);
    expect(node.servers.weights['198.18.0.9:80/TCP']).toEqual({ '10.244.1.2:8080': 1 });
  });
});
