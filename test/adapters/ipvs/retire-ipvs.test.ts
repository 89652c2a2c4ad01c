import { iptablesBackend } from '../../support/backends.js';
import { IPTABLES_OWNED_CHAINS } from '../../../src/adapters/iptables/owned-chains.js';
import { ToolMissingError } from '../../../src/adapters/tool-programs.js';
import { cleanUpIpvs, retireIpvs } from '../../../src/adapters/ipvs/clean-up-ipvs.js';
import { SWEEP_PERIOD } from '../../../src/adapters/ipvs/server-table.js';
import type { VirtualServer } from '../../../src/domain/ipvs/virtual-server.js';
import { HOST } from '../../support/iptables/services.js';
import { MemoryNode, nodeNetwork } from './memory-node.js';
import { entryOf, foreign } from './services.js';

const [BUSY, IDLE, ENDPOINT] = ['10.96.0.1:80/TCP', '10.96.0.2:80/TCP', '10.244.1.1:8080'];
let node: MemoryNode;
let stopping: AbortController;
beforeEach(async () => {
  node = new MemoryNode();
  stopping = new AbortController();
  await node.backend().start([entryOf('a'), entryOf('b')], nodeNetwork());
  node.servers.connect(BUSY, ENDPOINT, 1);
  node.takeJournal();
});

const serverAt = (address: string, port: number): VirtualServer => ({ ...foreign, address, port });
const retire = () => retireIpvs(node.holdings(), node.clock, node.logger, stopping.signal);

describe('mode ipvs makes room for another mode', () => {
  it('at once, except where there are connections, and there when they have ended', async () => {
    const retired = retire();
    await node.clock.advanceAsync(0);
    expect(node.servers.weights).toEqual({ [BUSY]: { [ENDPOINT]: 0 } });
    expect(node.addresses.all).toEqual(['10.96.0.1']);
    expect(node.sets.names).toEqual([]);
    expect(node.rules('nat', 'KUBE-SERVICES')).toBeUndefined();
    await node.clock.advanceAsync(SWEEP_PERIOD);
    expect(node.servers.weights).toEqual({ [BUSY]: { [ENDPOINT]: 0 } });
    node.servers.connect(BUSY, ENDPOINT, 0);
    await node.clock.advanceAsync(SWEEP_PERIOD);
    await retired;
    expect(node.servers.weights).toEqual({});
    expect(node.addresses.all).toEqual([]);
    expect(node.clock.pending).toBe(0);
  });

  it('where the node keeps an address, with all its virtual servers: what has drained refuses what would come to the node', async () => {
    const drained = '10.96.0.1:81/TCP';
    node.servers.tamper({ kind: 'add', server: serverAt('10.96.0.1', 81) });
    const retired = retire();
    await node.clock.advanceAsync(0);
    expect(node.servers.weights).toEqual({ [BUSY]: { [ENDPOINT]: 0 }, [drained]: {} });
    node.servers.connect(BUSY, ENDPOINT, 0);
    node.takeJournal();
    await node.clock.advanceAsync(SWEEP_PERIOD);
    await retired;
    expect(node.takeJournal()).toEqual([
      `delete-real ${BUSY} ${ENDPOINT}`,
      'remove 10.96.0.1',
      `delete ${BUSY}`,
      `delete ${drained}`,
    ]);
  });

  it('at once from a drained node port, whatever else the address of the node has: a program may listen there', async () => {
    const own = '192.0.2.11';
    const draining = serverAt(own, 30080);
    node.servers.tamper(
      { kind: 'add', server: draining },
      { kind: 'add-real', server: draining, real: { address: '10.244.1.1', port: 8080, weight: 1 } },
      { kind: 'add', server: serverAt(own, 30081) },
    );
    node.servers.connect(`${own}:30080/TCP`, ENDPOINT, 1);
    const retired = retire();
    await node.clock.advanceAsync(0);
    expect(Object.keys(node.servers.weights)).toEqual([BUSY, `${own}:30080/TCP`]);
    stopping.abort();
    await retired;
  });

  it('over several processes', async () => {
    const first = retire();
    await node.clock.advanceAsync(0);
    stopping.abort();
    expect(await first).toBe(1);
    expect(node.clock.pending).toBe(0);
    stopping = new AbortController();
    node.servers.connect(BUSY, ENDPOINT, 0);
    expect(await retire()).toBe(0);
    expect(node.servers.weights).toEqual({});
    expect(node.addresses.all).toEqual([]);
  });

  it('except for its sets where their tool is missing, and says so', async () => {
    node.servers.connect(BUSY, ENDPOINT, 0);
    node.sets.fail(new ToolMissingError('ipset', 'ipset'));
    await expect(retire()).rejects.toThrow('cannot start ipset');
    expect(node.servers.weights).toEqual({});
    expect(node.rules('nat', 'KUBE-SERVICES')).toBeUndefined();
  });

  it('and changes nothing where it never was', async () => {
    node = new MemoryNode();
    node.servers.tamper({ kind: 'add', server: serverAt('10.9.9.9', 80) });
    await retire();
    expect(node.takeJournal()).toEqual([]);
  });

  it('when the kernel releases its sets late', async () => {
    let busy = 3;
    node.sets.refuse((step) => (step.kind === 'destroy' && busy-- > 0 ? 'in use' : undefined));
    node.servers.connect(BUSY, ENDPOINT, 0);
    await retire();
    expect(node.sets.names).toEqual([]);
    expect(IDLE in node.servers.weights).toBe(false);
  });
});

describe('modes ipvs and iptables, which share chains', () => {
  const iptables = () =>
    iptablesBackend('IPv4', node.iptables, undefined, () => Promise.resolve(HOST), node.logger);
  const network = nodeNetwork();

  it('leave each other what both have', async () => {
    const mode = iptables();
    await mode.start([entryOf('a')], network);
    node.servers.connect(BUSY, ENDPOINT, 0);
    await retireIpvs(node.holdings('IPv4', IPTABLES_OWNED_CHAINS), node.clock, node.logger, stopping.signal);
    expect(await mode.verify('full')).toMatchObject({ compared: true, written: 0 });
    const chains = ['KUBE-NODE-PORT', 'KUBE-LOAD-BALANCER', 'KUBE-IPVS-FILTER', 'KUBE-IPVS-OUT-FILTER'];
    for (const chain of chains)
      expect([node.rules('nat', chain), node.rules('filter', chain)]).toEqual([undefined, undefined]);
    for (const chain of ['INPUT', 'FORWARD', 'OUTPUT'] as const)
      expect(node.rules('filter', chain)!.filter((rule) => rule.includes('ipvs'))).toEqual([]);
  });

  it('are both removed, whichever goes first, when nothing shall stay', async () => {
    for (const order of [
      ['ipvs', 'iptables'],
      ['iptables', 'ipvs'],
    ]) {
      node = new MemoryNode();
      await iptables().start([entryOf('a')], network);
      // As kube-proxy leaves it, which does not clean up between these two.
      const left = iptables();
      await node.backend().start([entryOf('a')], network);
      await left.start([entryOf('a')], network);
      for (const mode of order) await (mode === 'ipvs' ? node.reopened() : iptables()).cleanup();
      expect(node.iptables.userChains('IPv4')).toEqual(['filter KUBE-FIREWALL']);
    }
  });
});

it('does not start the tool ipset where the kernel has no IP sets', async () => {
  node = new MemoryNode();
  const read = jest.spyOn(node.sets, 'read');
  const holdings = { ...node.holdings(), mayHaveSets: false };
  await expect(retireIpvs(holdings, node.clock, node.logger, stopping.signal)).resolves.toBe(0);
  await cleanUpIpvs(holdings, node.logger);
  expect(read).not.toHaveBeenCalled();
});
