import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { TableState } from '../../../src/adapters/nftables/transport.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { BY_ADDRESS, setsOf, SLOTS } from '../../../src/domain/nftables/layout/sets.js';
import { FIRST_NUMBER } from '../../../src/domain/nftables/layout/node-rules.js';
import { formatPriority, type SetDefinition } from '../../../src/domain/nftables/layout/table.js';
import {
  className,
  classNumber,
  classRules,
  type TrafficClass,
} from '../../../src/domain/nftables/layout/traffic-class.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { nftablesBackend } from '../../support/backends.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';

const SLOT_COUNT = 1021;
const NODE = sampleNode('IPv4');
const hashed = sampleEntry('IPv4', 'hashed', { number: 1, balancingMethod: 'maglev', endpoints: 3 });
const plain = sampleEntry('IPv4', 'plain', { number: 2 });

class ListingTransport extends MemoryNftTransport {
  readonly listed = new Set<string>();

  override read(
    family: IpFamily,
    expected: readonly SetDefinition[],
    signal?: AbortSignal,
  ): Promise<TableState | undefined> {
    for (const { name } of expected) this.listed.add(name);
    return super.read(family, expected, signal);
  }
}

async function started(kernel: MemoryNftTransport, entries = [hashed, plain], keepUnexplained = false) {
  const backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), new MemoryLogger());
  await backend.start(entries, NODE, { keepUnexplained });
  return backend;
}

/** As earlier versions wrote it: a table for the frontend, in the numbers of its endpoints. */
async function withFrontendTable(kernel: MemoryNftTransport): Promise<void> {
  await (await started(kernel, [plain])).close();
  const trafficClass: TrafficClass = {
    ...{ variant: BY_ADDRESS, kind: 'pick', count: SLOT_COUNT, affinitySeconds: 0, method: 'maglev' },
  };
  const name = className(trafficClass);
  expect(name).toBe('pick-1021-maglev');
  const { frontends, endpoints, classes } = setsOf(BY_ADDRESS);
  const key = `${hashed.frontends[0]!.address} . tcp . 80`;
  const number = formatPriority(classNumber(trafficClass));
  const values = hashed.endpoints.cluster!.map(({ address, port }) => `${address} . ${port}`);
  kernel.tamper('IPv4', [
    { op: 'add-chain', chain: { name } },
    ...classRules(trafficClass, NODE).map((rule) => ({ op: 'add-rule', chain: name, rule }) as const),
    { op: 'add-elements', set: classes, elements: [{ key: number, value: `goto ${name}` }] },
    {
      op: 'add-elements',
      set: endpoints,
      elements: Array.from({ length: SLOT_COUNT }, (_, slot) => ({
        key: `${key} . ${formatPriority(FIRST_NUMBER + slot)}`,
        value: values[slot % 3]!,
      })),
    },
    {
      op: 'add-elements',
      set: frontends,
      elements: [{ key, value: number, comment: 'contract/hashed:main', digest: 1 }],
    },
    { op: 'delete-set', set: SLOTS },
  ]);
}

describe('tables of frontends, which earlier versions wrote', () => {
  it('are not read, and replaced by one transaction', async () => {
    const kernel = new ListingTransport();
    await withFrontendTable(kernel);
    kernel.listed.clear();
    const { length } = kernel.commits;
    await started(kernel);
    const fresh = new MemoryNftTransport();
    await started(fresh);
    expect(kernel.dump('IPv4')).toBe(fresh.dump('IPv4'));
    expect(kernel.listed).not.toContain('endpoints');
    expect(kernel.commits.slice(length)).toHaveLength(1);
    expect(kernel.refusedCount).toBe(0);
  });

  it('stay while what they belong to cannot be read, and go afterwards', async () => {
    const kernel = new MemoryNftTransport();
    await withFrontendTable(kernel);
    const backend = await started(kernel, [plain], true);
    expect(kernel.dump('IPv4')).toContain('pick-1021-maglev');
    await backend.verify('full');
    expect(kernel.dump('IPv4')).toContain('pick-1021-maglev');
    await backend.start([hashed, plain], NODE);
    await backend.verify('full');
    const fresh = new MemoryNftTransport();
    await started(fresh);
    expect(kernel.dump('IPv4')).toBe(fresh.dump('IPv4'));
  });
});
