import type { Backend } from '../../../src/application/ports/backend.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { MemoryNode, nodeNetwork, start } from './memory-node.js';
import { entryOf, foreign } from './services.js';

let node: MemoryNode;
let backend: Backend;
beforeEach(async () => {
  node = new MemoryNode();
  backend = node.backend();
  await start(node, backend, [entryOf('a'), entryOf('b')]);
  node.takeJournal();
});

const a = { ...foreign, address: '10.96.0.1' };
const lines = async (of = backend.differences!()): Promise<readonly string[]> =>
  (await of)!.map(({ sign, text, servicePort }) =>
    [sign, text, ...(servicePort === undefined ? [] : [`(${servicePort})`])].join(' '),
  );

/** The difference must be what is expected, and nothing after the repair. */
async function expectLines(...expected: readonly string[]): Promise<void> {
  expect(await lines()).toEqual(expected);
  expect(node.takeJournal()).toEqual([]);
  await backend.verify('full');
  expect(await lines()).toEqual([]);
}

it('is nothing after a start', async () => {
  await expectLines();
});

it('names what was deleted, with its service port', async () => {
  node.servers.tamper({ kind: 'delete', server: a });
  node.sets.tamper({ kind: 'delete', set: 'KUBE-CLUSTER-IP', member: '10.96.0.1,tcp:80' });
  node.addresses.tamper(['10.96.0.2']);
  node.iptables.tamper('IPv4', '*nat\n-D KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000\nCOMMIT\n');
  await expectLines(
    '+ ipset add KUBE-CLUSTER-IP 10.96.0.1,tcp:80 (shop/a)',
    '+ ipvsadm -A -t 10.96.0.1:80 -s rr (shop/a)',
    '+ ipvsadm -a -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 1 (shop/a)',
    '+ ip address add 10.96.0.1/32 dev kube-ipvs0 (shop/a)',
    '+ -t nat -A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000',
  );
});

it('names what was added or changed', async () => {
  node.servers.tamper(
    { kind: 'add-real', server: a, real: { address: '10.9.9.9', port: 80, weight: 5 } },
    { kind: 'set-real', server: a, real: { address: '10.244.1.1', port: 8080, weight: 3 } },
    { kind: 'add', server: foreign },
  );
  node.addresses.tamper(['10.96.0.1', '10.96.0.2', '10.9.9.9']);
  await expectLines(
    '- ipvsadm -a -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 3 (shop/a)',
    '- ipvsadm -a -t 10.96.0.1:80 -r 10.9.9.9:80 -m -w 5 (shop/a)',
    '+ ipvsadm -a -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 1 (shop/a)',
    '- ipvsadm -A -t 198.51.100.1:80 -s rr',
    '- ip address add 10.9.9.9/32 dev kube-ipvs0',
  );
});

it('is nothing for real servers that drain, and for virtual servers that are spared', async () => {
  backend = node.backend('IPv4', { excludeCIDRs: [parseCidr('198.51.100.0/24')!] });
  node.servers.tamper(
    { kind: 'add', server: foreign },
    { kind: 'add-real', server: a, real: { address: '10.244.1.9', port: 8080, weight: 0 } },
  );
  await start(node, backend, [entryOf('a'), entryOf('b')]);
  expect(await lines()).toEqual([]);
});

describe('of what is planned', () => {
  const planned = (keepUnexplained: boolean): Promise<readonly string[]> =>
    lines(node.backend().plannedDifferences!([entryOf('c')], nodeNetwork(), { keepUnexplained }));

  it('is what comes, and nothing of other Services', async () => {
    const found = await planned(true);
    expect(found.length).toBeGreaterThan(2);
    expect(found.filter((line) => !/^\+ .*\(shop\/c\)$/.test(line))).toEqual([]);
    expect(node.takeJournal()).toEqual([]);
  });

  it('is what comes and goes, when everything is known', async () => {
    const found = await planned(false);
    expect(found).toContain('- ip address add 10.96.0.1/32 dev kube-ipvs0');
    expect(found).toContain('- ipvsadm -A -t 10.96.0.1:80 -s rr');
  });
});
