import { nftablesBackend } from '../../support/backends.js';
import { sampleEntry, sampleNode, type SampleShape } from '../../../src/testing/contract/sample-services.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import { BY_ADDRESS, setsOf } from '../../../src/domain/nftables/layout/sets.js';
const node = sampleNode('IPv4');
const sample = (name: string, shape: SampleShape) => sampleEntry('IPv4', name, shape);
const unread = sample('unread', { number: 7, endpoints: 3, external: true, affinitySeconds: 60 });
const known = sample('known', { number: 8, endpoints: 2 });
const { frontends, endpoints } = setsOf(BY_ADDRESS);

let kernel: MemoryNftTransport;
let logger: MemoryLogger;
let backend: Backend;

const open = () => nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
const changed = (...entries: (typeof unread)[]) => entries.map((entry) => ({ key: entry.key, entry }));
const elements = (set = frontends) => kernel.contents('IPv4')!.sets.get(set.name)!.elements;
const ofUnread = () => [...elements().values()].filter(({ comment }) => comment === 'contract/unread:main');

beforeEach(async () => {
  kernel = new MemoryNftTransport();
  logger = new MemoryLogger();
  await open().start([unread, known], node);
  backend = open();
});

describe('rules that no entry explains', () => {
  it('stay where they are, and cost no step', async () => {
    const before = kernel.dump('IPv4');
    expect(await backend.start([known], node, { keepUnexplained: true })).toMatchObject({
      written: 0,
      failed: [],
    });
    expect(kernel.dump('IPv4')).toBe(before);
    expect(ofUnread()).toHaveLength(3);
  });

  it('are known by their service port', async () => {
    await backend.start([known], node, { keepUnexplained: true });
    const kept = () =>
      [unread, known, sample('new', { number: 9, endpoints: 0 })].map(({ name }) => backend.mayKeep!(name));
    expect(kept()).toEqual([true, false, false]);
    await backend.apply(changed(unread), node);
    expect(kept()).toEqual([false, false, false]);
  });

  it('are put back when another program removes them', async () => {
    await backend.start([known], node, { keepUnexplained: true });
    const before = kernel.dump('IPv4');
    kernel.tamper('IPv4', [{ op: 'delete-table' }]);
    expect((await backend.verify('quick')).failed).toEqual([]);
    expect(kernel.dump('IPv4')).toBe(before);
  });

  it('go when they cannot be put back, and no service port is blamed', async () => {
    await backend.start([known], node, { keepUnexplained: true });
    kernel.tamper('IPv4', [{ op: 'delete-table' }]);
    kernel.refuse((_, element) => (element?.comment === 'contract/unread:main' ? 'EINVAL' : undefined));
    expect((await backend.verify('quick')).failed).toEqual([]);
    expect(ofUnread()).toEqual([]);
    expect(elements().size).toBe(1);
  });

  it('yield a frontend to the service that claims it, for good, without reporting a conflict', async () => {
    await backend.start([known], node, { keepUnexplained: true });
    const heir = sample('heir', { number: 7, endpoints: 1 });
    expect(await backend.apply(changed(heir), node)).toMatchObject({ failed: [] });
    expect(ofUnread()).toHaveLength(2);
    await backend.apply([{ key: heir.key, entry: undefined }], node);
    expect(ofUnread()).toHaveLength(2);
    expect([...elements().keys()].filter((key) => key.startsWith('10.96.77.7 '))).toEqual([]);
  });

  it('go with frontends that their service has no more', async () => {
    await backend.start([known], node, { keepUnexplained: true });
    const read = sample('unread', { number: 9, endpoints: 1 });
    await backend.apply(changed(read), node);
    expect(ofUnread().map(({ key }) => key)).toEqual(['10.96.77.9 . tcp . 80']);
  });

  it('stay when what should replace them is refused', async () => {
    await backend.start([known], node, { keepUnexplained: true });
    const before = kernel.dump('IPv4');
    const lift = kernel.refuse(({ op }, element) =>
      op === 'add-elements' && element?.value === '10.244.9.1 . 8080' ? 'EINVAL' : undefined,
    );
    const read = sample('unread', { number: 9, endpoints: 1 });
    expect((await backend.apply(changed(read), node)).failed).toHaveLength(1);
    await backend.verify('full');
    expect(kernel.dump('IPv4')).toBe(before);
    lift();
    await backend.apply(changed(read), node);
    expect(ofUnread()).toHaveLength(1);
  });

  it('stay only where they lead somewhere', async () => {
    const strange = ['1000:0', '7000:1', '2000:5'].map((value, at) => ({
      key: `192.0.2.${at + 1} . tcp . 80`,
      value,
      comment: 'strange/strange',
    }));
    kernel.tamper('IPv4', [
      { op: 'add-elements', set: frontends, elements: strange },
      { op: 'add-elements', set: frontends, elements: [{ key: '192.0.2.9 . tcp . 80', value: '5000:2' }] },
      {
        op: 'add-elements',
        set: endpoints,
        elements: [{ key: '192.0.2.1 . tcp . 80 . 8000:0', value: '192.0.2.1 . 1' }],
      },
    ]);
    expect((await backend.start([known], node, { keepUnexplained: true })).failed).toEqual([]);
    expect([...elements().keys()].filter((key) => key.startsWith('192.0.2.'))).toEqual([]);
    expect(ofUnread()).toHaveLength(3);
  });
});
