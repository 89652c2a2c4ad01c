import { stringify, parse } from 'yaml';
import { readScenario } from '../support/recorded/scenarios.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { contentsOf, readTable, type TableObject } from '../support/testbed/ruleset.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, askTimes, Backend, errorsOf, SteadyClient } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const clusterIP = '172.30.20.6';
const web = { what: 'http', dst: clusterIP, port: 80 } as const;
/** The proxy verifies what it wrote every second, but for no more than a twentieth of the time: less often on a busy machine. */
const HEALING = 90_000;
const config = stringify({
  ...(parse(testConfig) as object),
  nftables: { syncPeriod: '1s' },
});

function objects(endpoints: readonly string[]): string {
  const http = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;
  return clusterObjects([
    { name: 'web', clusterIP, ports: [{ ...http, nodePort: 30186 }], endpoints },
    { name: 'other', clusterIP: '172.30.20.7', ports: [http], endpoints: endpoints.slice(0, 1) },
    { name: 'empty', clusterIP: '172.30.20.8', ports: [http], endpoints: [] },
  ]);
}

describe('rules damaged by somebody else', () => {
  let testbed: Testbed;
  let backends: Backend[];
  let proxy: ProxyProcess;
  let before: Map<string, TableObject>;

  beforeAll(async () => {
    testbed = await Testbed.open();
    backends = await Promise.all(
      [1, 2].map((number) => Backend.start(testbed, `b${number}`, `10.244.1.${10 + number}`)),
    );
    const endpoints = backends.map(({ address }) => address);
    proxy = await ProxyProcess.start({ host: testbed.node, config, objects: objects(endpoints) });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed.close();
  });
  beforeEach(async () => {
    before = await readTable(testbed.node);
    expect(await askTimes(2, testbed.pod, web)).toHaveLength(2);
  });

  const nft = (command: string): Promise<string> => testbed.node.run(['nft', '-f', '-'], command);
  const repaired = (): Promise<void> =>
    until(
      'the table is as it was',
      async () => {
        expect(contentsOf(await readTable(testbed.node))).toEqual(contentsOf(before));
        return true;
      },
      HEALING,
    );

  /** Repairs the damage, and leaves all but the damaged object alone, handles and all. */
  async function expectRepaired(damaged: TableObject): Promise<void> {
    await repaired();
    const key = `${damaged.kind} ${damaged.name}`;
    const after = await readTable(testbed.node);
    const others = (table: Map<string, TableObject>): object[] =>
      [...table].filter(([name]) => name !== key).map(([, { handle, lines }]) => ({ handle, lines }));
    expect(others(after)).toEqual(others(before));
    expect(await askTimes(4, testbed.pod, web)).toHaveLength(4);
  }

  function damageable(what: string, fits: (object: TableObject) => boolean): TableObject {
    const found = [...before.values()].find(fits);
    if (!found) throw new Error(`no ${what} in the table: ${[...before.keys()].join(', ')}`);
    return found;
  }

  it('writes a deleted table again', async () => {
    await nft('delete table ip kube-proxy');
    await repaired();
    expect(new Set(await askTimes(30, testbed.pod, web))).toEqual(new Set(['b1', 'b2']));
  });

  it('writes the tables again after another program has flushed all rules', async () => {
    const before6 = contentsOf(await readTable(testbed.node, 'ip6'));
    await nft('flush ruleset');
    await repaired();
    await until(
      'the IPv6 table is as it was',
      async () => {
        expect(contentsOf(await readTable(testbed.node, 'ip6'))).toEqual(before6);
        return true;
      },
      HEALING,
    );
  });

  it('puts back a single element, and rewrites nothing else', async () => {
    const map = damageable('map of service addresses', ({ kind, elements }) => {
      return kind === 'map' && elements.some((element) => element.startsWith(clusterIP));
    });
    const [key] = map.elements.find((element) => element.startsWith(clusterIP))!.split(' : ');
    await nft(`delete element ip kube-proxy ${map.name} { ${key} }`);
    await expectRepaired(map);
    expect((await readTable(testbed.node)).get(`map ${map.name}`)!.handle).toBe(map.handle);
  });

  it('takes away an element that does not belong there, and rewrites nothing else', async () => {
    const map = damageable('map of service addresses', ({ kind, elements }) => {
      return kind === 'map' && elements.some((element) => element.startsWith(clusterIP));
    });
    const element = map.elements
      .find((each) => each.startsWith(clusterIP))!
      .replace(clusterIP, '172.30.99.99');
    await nft(`add element ip kube-proxy ${map.name} { ${element} }`);
    await expectRepaired(map);
  });

  it('puts back a single rule, and rewrites nothing else', async () => {
    const chain = damageable('chain with rules', ({ kind, lines }) => {
      return kind === 'chain' && lines.some((line) => line.includes('vmap') && line.includes('# handle'));
    });
    const rule = chain.lines.find((line) => line.includes('# handle'))!;
    await nft(`delete rule ip kube-proxy ${chain.name} handle ${/# handle (\d+)$/.exec(rule)![1]}`);
    await expectRepaired(chain);
  });

  it('takes away a rule that does not belong there, and rewrites nothing else', async () => {
    const chain = damageable('chain with rules', ({ kind, lines }) => kind === 'chain' && lines.length > 0);
    await nft(`insert rule ip kube-proxy ${chain.name} ip daddr ${clusterIP} drop`);
    await expectRepaired(chain);
  });

  it('puts back a single chain, and rewrites nothing else', async () => {
    const chain = damageable('NAT chain at prerouting', ({ kind, lines }) => {
      return kind === 'chain' && lines.some((line) => line.startsWith('type nat hook prerouting'));
    });
    await nft(`flush chain ip kube-proxy ${chain.name}\ndelete chain ip kube-proxy ${chain.name}`);
    await expectRepaired(chain);
  });

  it('programs a change even while the table is gone', async () => {
    await nft('delete table ip kube-proxy');
    await proxy.change(objects([backends[1]!.address]));
    await until('the remaining endpoint serves', async () => {
      return (await askTimes(5, testbed.pod, web)).every((name) => name === 'b2');
    });
    await proxy.change(objects(backends.map(({ address }) => address)));
    await repaired();
  });
});

describe('faults around the proxy', () => {
  let testbed: Testbed;
  let b1: Backend;
  let b2: Backend;
  let proxy: ProxyProcess | undefined;

  beforeAll(async () => {
    testbed = await Testbed.open();
    [b1, b2] = await Promise.all([
      Backend.start(testbed, 'b1', '10.244.1.11'),
      Backend.start(testbed, 'b2', '10.244.1.12'),
    ]);
  });
  afterAll(() => testbed.close());
  beforeEach(async () => {
    await testbed.flushNode();
    proxy = undefined;
  });
  afterEach(() => proxy?.remove());

  const start = (text: string): Promise<ProxyProcess> =>
    ProxyProcess.start({ host: testbed.node, config, objects: text });

  it('keeps what a manifest held when it stops to parse, says so, and follows it again when it is mended', async () => {
    proxy = await start(objects([b1.address]));
    const before = contentsOf(await readTable(testbed.node));
    await proxy.place('kind: Service\nmetadata: {name: [web\n\tspec: }\n');
    await until('the log names the file', () => Promise.resolve(proxy!.log.includes('objects.yaml')));
    expect(contentsOf(await readTable(testbed.node))).toEqual(before);
    expect(await askTimes(3, testbed.pod, web)).toEqual(['b1', 'b1', 'b1']);

    await proxy.change(objects([b2.address]));
    expect(await askTimes(3, testbed.pod, web)).toEqual(['b2', 'b2', 'b2']);
  });

  it('programs what changed when it was killed and comes again, and when that was in the middle of its work', async () => {
    proxy = await start(objects([b1.address]));
    await proxy.stop('SIGKILL');
    expect(await askOnce(testbed.pod, web)).toBe('b1');
    await proxy.place(objects([b2.address]));
    await proxy.startAgain();
    expect(await askTimes(3, testbed.pod, web)).toEqual(['b2', 'b2', 'b2']);

    for (const { address } of [b1, b2]) {
      await proxy.place(objects([address]));
      await proxy.stop('SIGKILL');
      await proxy.startAgain();
    }
    expect(await askTimes(3, testbed.pod, web)).toEqual(['b2', 'b2', 'b2']);
    const incremental = contentsOf(await readTable(testbed.node));
    await proxy.stop('SIGTERM');
    await testbed.flushNode();
    await proxy.startAgain();
    expect(incremental).toEqual(contentsOf(await readTable(testbed.node)));
  });

  it("takes over kube-proxy's table in one step: a client notices nothing", async () => {
    await Promise.all([
      Backend.start(testbed, 'far1', '10.244.1.5'),
      Backend.start(testbed, 'far2', '10.244.2.6'),
    ]);
    const { steps } = await readScenario('clusterip-basic');
    const { objects: recorded, tables } = steps[0]!;
    await testbed.node.run(['nft', '-f', '-'], tables.join('\n'));
    const service = { what: 'http', dst: '172.30.10.1', port: 80 } as const;
    expect(new Set(await askTimes(30, testbed.pod, service))).toEqual(new Set(['far1', 'far2']));

    const client = await SteadyClient.start(testbed.pod, service, 2);
    proxy = await start(recorded);
    const takenOver = Date.now();
    await until('some requests are through', () => Promise.resolve(Date.now() - takenOver > 200));
    const requests = await client.stop();

    expect(errorsOf(requests)).toEqual({});
    const late = requests.filter(({ sentAt }) => sentAt > takenOver).map(({ body }) => body);
    expect(new Set(late)).toEqual(new Set(['far1', 'far2']));
    // Nothing of kube-proxy's is left over: a fresh start on an empty node leaves the same.
    const takenOverTable = contentsOf(await readTable(testbed.node));
    await proxy.stop('SIGTERM');
    await testbed.flushNode();
    await proxy.startAgain();
    expect(takenOverTable).toEqual(contentsOf(await readTable(testbed.node)));
  });
});
