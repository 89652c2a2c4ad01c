import type { Backend } from '../../../src/application/ports/backend.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { MemoryNode, start } from './memory-node.js';
import { entryOf, foreign } from './services.js';

let node: MemoryNode;
let backend: Backend;
beforeEach(() => {
  node = new MemoryNode();
  backend = node.backend();
});

const started = (...lists: (readonly ForwardingEntry[])[]) => start(node, backend, lists.flat());

describe('what another program changes', () => {
  it('is repaired, and nothing else', async () => {
    await started([entryOf('a'), entryOf('b')]);
    const a = { ...foreign, address: '10.96.0.1' };
    node.servers.tamper({ kind: 'delete', server: a });
    node.sets.tamper({ kind: 'delete', set: 'KUBE-CLUSTER-IP', member: '10.96.0.1,tcp:80' });
    node.addresses.tamper(['10.96.0.2']);
    node.iptables.tamper('IPv4', '*nat\n-D KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000\nCOMMIT\n');
    expect(await backend.verify('full')).toMatchObject({ compared: true, failed: [] });
    expect(node.takeJournal()).toEqual([
      'add KUBE-CLUSTER-IP 10.96.0.1,tcp:80',
      'restore',
      'add 10.96.0.1:80/TCP rr',
      'add-real 10.96.0.1:80/TCP 10.244.1.1:8080 1',
      'add 10.96.0.1',
    ]);
    expect(await backend.verify('full')).toMatchObject({ compared: true, written: 0 });
    expect(await backend.verify('quick')).toMatchObject({ compared: false, written: 0 });
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
    expect(await backend.verify('full')).toMatchObject({ written: 5 });
    expect(node.servers.weights).toEqual({ '10.96.0.1:80/TCP': { '10.244.1.1:8080': 1 } });
    expect(node.addresses.all).toEqual(['10.96.0.1']);
  });

  it('is left alone at the addresses that are excluded', async () => {
    backend = node.backend('IPv4', { excludeCIDRs: [parseCidr('198.51.100.0/24')!] });
    node.servers.tamper({ kind: 'add', server: foreign });
    await started([entryOf('a')]);
    expect(Object.keys(node.servers.weights)).toContain('198.51.100.1:80/TCP');
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
  });

  it('is left alone where it is of the other family', async () => {
    node.servers.tamper({ kind: 'add', server: { ...foreign, address: '2001:db8::1' } });
    await started([entryOf('a')]);
    expect(Object.keys(node.servers.weights)).toContain('[2001:db8::1]:80/TCP');
  });

  it('is not compared any further when something more urgent comes', async () => {
    await started([entryOf('a')]);
    node.addresses.tamper([]);
    await expect(backend.verify('full', AbortSignal.abort(new Error('hurry')))).rejects.toThrow('hurry');
    expect(node.takeJournal()).toEqual([]);
  });
});
