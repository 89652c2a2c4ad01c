import type { Backend } from '../../../src/application/ports/backend.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { MemoryNode, nodeNetwork, start } from './memory-node.js';
import { changed, entryOf, gone, keyOf, LOAD_BALANCER } from './services.js';

const network = nodeNetwork();
let node: MemoryNode;
let backend: Backend;
beforeEach(() => {
  node = new MemoryNode();
  backend = node.backend();
});

const started = (...lists: (readonly ForwardingEntry[])[]) => start(node, backend, lists.flat());

describe('chains of iptables mode', () => {
  const chains = { svc: 'KUBE-SVC-AAAAAAAAAAAAAAAA', ext: 'KUBE-EXT-AAAAAAAAAAAAAAAA' };
  const load = (...lines: string[]) =>
    node.iptables.tamper('IPv4', ['*nat', ...lines, 'COMMIT', ''].join('\n'));
  const nodePort = `-A KUBE-NODEPORTS -p tcp -m tcp --dport 30080 -j ${chains.ext}`;

  it('are no pending deletions while its node ports lead to them, and go with these', async () => {
    load(':KUBE-NODEPORTS - [0:0]', `:${chains.svc} - [0:0]`, `:${chains.ext} - [0:0]`);
    load(`-A ${chains.ext} -j ${chains.svc}`, nodePort);
    await started([entryOf('a')]);
    expect([backend.failedDeletes, node.logger.at('warn')]).toEqual([[], []]);
    expect(node.rules('nat', chains.ext)).toEqual([]);
    load(':KUBE-NODEPORTS - [0:0]', '-X KUBE-NODEPORTS');
    await backend.verify('full');
    expect([node.rules('nat', chains.ext), node.rules('nat', chains.svc)]).toEqual([undefined, undefined]);
  });

  it('are pending deletions while a rule of another program leads to them', async () => {
    load(':KUBE-NODEPORTS - [0:0]', ':OTHER - [0:0]', `:${chains.ext} - [0:0]`);
    load(nodePort, `-A OTHER -j ${chains.ext}`);
    await started([entryOf('a')]);
    expect(backend.failedDeletes).toEqual([expect.stringContaining(`\`-A OTHER -j ${chains.ext}'`)]);
  });
});

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

  it('leaves the rules that lead packets for last where those of mode iptables do until then', async () => {
    node.servedByIptables = true;
    await backend.start([entryOf('a')], network);
    const journal = node.takeJournal();
    const guarding = journal.indexOf('restore');
    expect(guarding).toBeLessThan(journal.indexOf('add 10.96.0.1:80/TCP rr'));
    expect(journal.indexOf('restore', guarding + 1)).toBe(journal.length - 1);
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

describe('weights', () => {
  it('are set where they change, and nothing else is', async () => {
    node.servers.schedulers.add('wrr');
    const weighing = (weights: Record<string, number>) => entryOf('a', [1, 2], { weights });
    await started([weighing({ '10.244.1.2': 4 })]);
    await backend.apply(changed(weighing({ '10.244.1.2': 9 })), network);
    expect(node.takeJournal()).toEqual(['set-real 10.96.0.1:80/TCP 10.244.1.2:8080 9']);
  });

  it.each(['TCP', 'UDP', 'SCTP'] as const)(
    'of 0 leave a real server of %s, which keeps its connections',
    async (protocol) => {
      node.servers.schedulers.add('wrr');
      const ports = [{ name: '', protocol, port: 80, nodePort: 0 }];
      const weighing = (weight: number) => entryOf('a', [1, 2], { ports, weights: { '10.244.1.2': weight } });
      await started([weighing(4)]);
      await backend.apply(changed(weighing(0)), network);
      const steps = node.takeJournal();
      expect(steps).toContain(`set-real 10.96.0.1:80/${protocol} 10.244.1.2:8080 0`);
      expect(steps.filter((step) => step.startsWith('delete'))).toEqual([]);
      expect(await backend.verify('full')).toMatchObject({ written: 0 });
    },
  );
});

describe('the addresses of the node', () => {
  const nodePort = entryOf('a', [1], { ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }] });

  it('take node ports as they come, and let them go as they go', async () => {
    await started([nodePort, entryOf('b')]);
    const more = nodeNetwork('IPv4', { nodeAddresses: ['192.0.2.11', '192.0.2.12'] });
    expect(backend.rulesDependOn!(network, more)).toBe(true);
    await backend.apply(changed(nodePort, entryOf('b')), more);
    expect(node.takeJournal()).toEqual([
      'add 192.0.2.12:30080/TCP rr',
      'add-real 192.0.2.12:30080/TCP 10.244.1.1:8080 1',
    ]);
    await backend.apply(changed(nodePort, entryOf('b')), network);
    expect(node.takeJournal()).toEqual(['delete 192.0.2.12:30080/TCP']);
  });

  it('are not bound as service addresses, from the moment that they are there', async () => {
    const entry = entryOf('a', [1], { externalIPs: [parseAddress('198.18.0.9')!] });
    await started([entry]);
    expect(node.addresses.all).toContain('198.18.0.9');
    await backend.apply(changed(entry), nodeNetwork('IPv4', { nodeAddresses: ['192.0.2.11', '198.18.0.9'] }));
    expect(node.takeJournal()).toEqual(['remove 198.18.0.9', 'delete KUBE-IPVS-IPS 198.18.0.9']);
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
    const installed = await backend.apply(changed(wanting), network);
    expect(installed.notes).toBeUndefined();
    expect(installed.written).toBe(1);
    expect(node.servers.all[0]!.server.scheduler).toBe('wonder');
  });
});

describe('two services that claim one frontend', () => {
  it('share nothing: the first by name has it, and the other one after it', async () => {
    const claiming = (name: string, last: number) =>
      entryOf(name, [last], { externalIPs: [parseAddress('198.18.0.9')!] });
    await backend.start([claiming('b', 2), claiming('a', 1)], network);
    expect(node.servers.weights['198.18.0.9:80/TCP']).toEqual({ '10.244.1.1:8080': 1 });
    await backend.apply(gone('a'), network);
    expect(node.servers.weights['198.18.0.9:80/TCP']).toEqual({ '10.244.1.2:8080': 1 });
  });
});
