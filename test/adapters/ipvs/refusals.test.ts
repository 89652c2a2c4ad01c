import type { Backend } from '../../../src/application/ports/backend.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { endpoint, service } from '../../support/samples.js';
import { MemoryNode, nodeNetwork, start } from './memory-node.js';
import { changed, entryOf, foreign, gone, keyOf, LOAD_BALANCER } from './services.js';

const network = nodeNetwork();
let node: MemoryNode;
let backend: Backend;
beforeEach(() => {
  node = new MemoryNode();
  backend = node.backend();
});

const started = (...lists: (readonly ForwardingEntry[])[]) => start(node, backend, lists.flat());

describe('what is refused', () => {
  it('is one virtual server: reported, the others are programmed, and it comes when asked again', async () => {
    node.servers.refuse((step) => (step.server.address === '10.96.0.2' ? 'EINVAL' : undefined));
    const entries = ['a', 'b', 'c'].map((name) => entryOf(name));
    const { failed } = await backend.start(entries, network);
    expect(failed).toEqual([{ key: keyOf('b'), reason: 'add 10.96.0.2:80/TCP rr was rejected: EINVAL' }]);
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.1:80/TCP', '10.96.0.3:80/TCP']);
    expect(node.addresses.all).toEqual(['10.96.0.1', '10.96.0.3']);
    node.servers.refuse(() => undefined);
    expect(await backend.apply(changed(entries[1]!), network)).toMatchObject({ failed: [] });
    expect(node.servers.weights['10.96.0.2:80/TCP']).toEqual({ '10.244.1.1:8080': 1 });
    expect(node.addresses.all).toContain('10.96.0.2');
  });

  it.each(['ENOMEM', 'ENOBUFS', 'EINTR', 'EPERM'])(
    'for a reason of the moment is nobody’s fault (%s): nothing is taken away, and it fails as a whole',
    async (reason) => {
      const entries = ['a', 'b', 'c'].map((name) => entryOf(name));
      await started(entries);
      const before = node.servers.weights;
      node.servers.refuse((step) => ('real' in step ? reason : undefined));
      await expect(backend.apply(changed(entryOf('b', [1, 2])), network)).rejects.toThrow(reason);
      expect(node.servers.weights).toEqual(before);
      node.servers.refuse(() => undefined);
      expect(await backend.start([...entries], network)).toMatchObject({ failed: [] });
    },
  );

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

  it('is a rule: the members that came before it go again', async () => {
    await started([entryOf('a')]);
    const before = node.sets.names.map((name) => [name, node.sets.members(name)]);
    node.iptables.namesLines = false;
    node.iptables.refuse((line) => (line.includes('203.0.113.80') ? 'refused' : undefined));
    const { failed } = await backend.apply(changed(entryOf('b', [1], LOAD_BALANCER)), network);
    expect(failed.map(({ key }) => key)).toEqual([keyOf('b')]);
    expect(node.sets.names.map((name) => [name, node.sets.members(name)])).toEqual(before);
    expect(await backend.differences!()).toEqual([]);
    node.iptables.refuse(() => undefined);
    expect(await backend.apply(changed(entryOf('b', [1], LOAD_BALANCER)), network)).toMatchObject({
      failed: [],
    });
    expect(node.sets.members('KUBE-LOAD-BALANCER-FW')).toEqual(['203.0.113.80,tcp:80']);
  });

  it('is the removal of a virtual server: it stays closed to the sources that it was closed to, until it goes', async () => {
    const ports = (port: number) => service({ name: 'a' }).ports.map((each) => ({ ...each, port }));
    await started([entryOf('a', [1], { ...LOAD_BALANCER, ports: ports(80) })]);
    const closed = () => [
      node.sets.members('KUBE-LOAD-BALANCER-FW'),
      node.sets.members('KUBE-LOAD-BALANCER-SOURCE-CIDR'),
      node.iptables.chain('IPv4', 'filter', 'KUBE-PROXY-FIREWALL'),
    ];
    const before = closed();
    node.servers.refuse((step) => (step.kind === 'delete' ? 'EINVAL' : undefined));
    await backend.apply(changed(entryOf('a', [1], { ports: ports(8080) })), network);
    expect(node.servers.weights['203.0.113.80:80/TCP']).toEqual({ '10.244.1.1:8080': 1 });
    expect(closed()).toEqual(before);
    node.servers.refuse(() => undefined);
    await backend.verify('full');
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.1:8080/TCP']);
    expect(closed()).toEqual([[], [], []]);
  });

  describe('is the removal of what a service port had before', () => {
    const balanced = { loadBalancerIPs: LOAD_BALANCER.loadBalancerIPs! };
    const former = '203.0.113.80:80/TCP';
    const failure = { key: keyOf('a'), reason: `delete ${former} was rejected: EINVAL` };
    beforeEach(async () => {
      await started([entryOf('a', [1], balanced), entryOf('b')]);
      node.servers.refuse((step) => (step.kind === 'delete' ? 'EINVAL' : undefined));
    });

    it('that fails, served as it is now, until each try of it has succeeded', async () => {
      for (let attempt = 0; attempt < 2; attempt++) {
        const { failed } = await backend.apply(changed(entryOf('a', [2])), network);
        expect(failed).toEqual([failure]);
        expect(node.servers.weights['10.96.0.1:80/TCP']).toEqual({ '10.244.1.2:8080': 1 });
        expect(node.servers.weights).toHaveProperty([former]);
      }
      expect(await backend.apply(changed(entryOf('b', [2])), network)).toMatchObject({ failed: [] });
      node.servers.refuse(() => undefined);
      expect(await backend.apply(changed(entryOf('a', [2])), network)).toMatchObject({ failed: [] });
      expect(node.servers.weights).not.toHaveProperty([former]);
      node.takeJournal();
      expect(await backend.verify('full')).toMatchObject({ written: 0, failed: [] });
    });

    it('that fails in comparisons, too, and the one that removes it knows whose it was', async () => {
      await backend.apply(changed(entryOf('a')), network);
      expect(await backend.verify('full')).toMatchObject({ written: 0, failed: [failure] });
      node.servers.refuse(() => undefined);
      expect(await backend.verify('full')).toMatchObject({ failed: [], retriedDeletes: true });
      expect(node.servers.weights).not.toHaveProperty([former]);
      expect(await backend.verify('full')).toMatchObject({ written: 0, retriedDeletes: false });
    });

    it('which goes then: with all that it has left, when asked again', async () => {
      await backend.apply(changed(entryOf('a')), network);
      expect((await backend.apply(gone('a'), network)).failed).toEqual([
        expect.objectContaining({ key: keyOf('a') }),
      ]);
      node.servers.refuse(() => undefined);
      expect(await backend.apply(gone('a'), network)).toMatchObject({ failed: [] });
      expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.2:80/TCP']);
    });

    it('which another one wants by now: nothing fails any more', async () => {
      await backend.apply(changed(entryOf('a')), network);
      expect(await backend.apply(changed(entryOf('b', [2], balanced)), network)).toMatchObject({
        failed: [],
      });
      expect(await backend.apply(changed(entryOf('a')), network)).toMatchObject({ failed: [] });
      expect(node.servers.weights[former]).toEqual({ '10.244.1.2:8080': 1 });
    });
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
    node.addresses.refuse(() => 'EINVAL');
    const { failed } = await backend.start([entryOf('a')], network);
    expect(failed).toEqual([{ key: keyOf('a'), reason: 'add 10.96.0.1 was rejected: EINVAL' }]);
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

  it('is a removal: reported, the service stays whole, and goes when asked again', async () => {
    await started([entryOf('a'), entryOf('b')]);
    const before = [node.servers.weights, node.addresses.all, node.sets.members('KUBE-CLUSTER-IP')];
    node.servers.refuse((step) => (step.kind === 'delete' ? 'EINVAL' : undefined));
    const { failed } = await backend.apply(gone('a'), network);
    expect(failed).toEqual([{ key: keyOf('a'), reason: 'delete 10.96.0.1:80/TCP was rejected: EINVAL' }]);
    expect([node.servers.weights, node.addresses.all, node.sets.members('KUBE-CLUSTER-IP')]).toEqual(before);
    expect(await backend.verify('full')).toMatchObject({ written: 0, failed: [] });
    node.servers.refuse(() => undefined);
    expect(await backend.apply(gone('a'), network)).toMatchObject({ failed: [] });
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.2:80/TCP']);
  });

  it('is a removal for a reason of the moment: it fails as a whole, and the next quick verification makes up for it', async () => {
    await started([entryOf('a'), entryOf('b')]);
    node.servers.refuse((step) => (step.kind === 'delete' ? 'EBUSY' : undefined));
    await expect(backend.apply(gone('a'), network)).rejects.toThrow('EBUSY');
    node.servers.refuse(() => undefined);
    expect(await backend.verify('quick')).toMatchObject({ written: 3, failed: [] });
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.2:80/TCP']);
  });

  it('is a removal of what no service had: logged once, told of until it is gone, and tried at each verification', async () => {
    await started([entryOf('a'), entryOf('b')]);
    node.servers.refuse((step) => (step.kind === 'delete' ? 'EINVAL' : undefined));
    backend = node.backend();
    expect(await backend.start([entryOf('a')], network)).toMatchObject({ failed: [] });
    for (const how of ['full', 'quick', 'full'] as const)
      expect(await backend.verify(how)).toMatchObject({ compared: true, failed: [], written: 0 });
    expect(node.logger.at('warn')).toHaveLength(1);
    expect(backend.failedDeletes).toEqual(['delete 10.96.0.2:80/TCP was rejected: EINVAL']);
    node.servers.refuse(() => undefined);
    expect(await backend.verify('quick')).toMatchObject({ retriedDeletes: true });
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.1:80/TCP']);
    expect(backend.failedDeletes).toEqual([]);
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
  });

  it('is a removal of what another program removed before: no more than said', async () => {
    await started([entryOf('a')]);
    node.servers.tamper({ kind: 'delete', server: { address: '10.96.0.1', protocol: 'TCP', port: 80 } });
    expect(await backend.apply(gone('a'), network)).toMatchObject({ failed: [] });
    node.takeJournal();
    expect(await backend.verify('quick')).toMatchObject({ failed: [], written: 0 });
    expect(await backend.verify('full')).toMatchObject({ failed: [], written: 0 });
    expect(node.takeJournal()).toEqual([]);
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
    expect(failed).toEqual([
      { key: keyOf('a'), reason: expect.stringContaining('cannot be compiled'), limitedBy: 'node' },
    ]);
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

  it('is a set of another type with one of our names', async () => {
    node.sets.makeForeign('KUBE-CLUSTER-IP', 'list:set size 8');
    await expect(backend.start([], network)).rejects.toThrow(
      /KUBE-CLUSTER-IP \(list:set size 8\).*ipset destroy/,
    );
  });
});
