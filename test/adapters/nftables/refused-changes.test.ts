import { nftablesBackend } from '../../support/backends.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { BY_ADDRESS, setsOf } from '../../../src/domain/nftables/layout/sets.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport, type Blame } from '../../support/fakes/memory-nft-transport.js';

describe.each(IP_FAMILIES)('a start that is refused (%s)', (family) => {
  const node = sampleNode(family);
  const tcp = sampleEntry(family, 'same', { number: 1 });
  const udp = sampleEntry(family, 'same', { number: 1, protocol: 'UDP' });
  const bigger = sampleEntry(family, 'same', { number: 1, endpoints: 4 });

  let kernel: MemoryNftTransport;
  const open = (): Backend =>
    nftablesBackend(family, kernel, new GenerationWatch(kernel), new MemoryLogger());
  const frontends = (): readonly string[] => [
    ...kernel.contents(family)!.sets.get(setsOf(BY_ADDRESS).frontends.name)!.elements.keys(),
  ];
  const refuse = (pattern: RegExp, blame?: Blame) =>
    kernel.refuse(
      ({ op }, element) =>
        op === 'add-elements' && pattern.test(element?.comment ?? '') ? 'EINVAL' : undefined,
      blame,
    );

  beforeEach(() => void (kernel = new MemoryNftTransport()));

  it('leaves the rules of the same name and another protocol alone', async () => {
    await open().start([tcp, udp], node);
    refuse(/^contract\/same:/);
    const { failed } = await open().start([bigger], node);
    expect(failed.map(({ key }) => key)).toEqual([bigger.key]);
    expect(frontends()).toEqual([expect.stringContaining(' . tcp . ')]);
  });

  it.each(['element', 'nothing'] as const)(
    'leaves what leads to it, also where another one claims its frontend (naming: %s)',
    async (blame) => {
      await open().start([tcp], node);
      const before = frontends();
      refuse(/^contract\//, blame);
      const rival = sampleEntry(family, 'alike', { number: 1 });
      const { failed } = await open().start([bigger, rival], node);
      expect(failed.map(({ key }) => key).sort()).toEqual([rival.key, bigger.key]);
      expect(frontends()).toEqual(before);
    },
  );
});
