import { nftablesBackend } from '../../support/backends.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { everyKind, variant } from '../../../src/testing/contract/sample-sets.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';

const node = sampleNode('IPv4');
const plain = variant('IPv4', 'plain', { endpoints: 5 });

describe.each(['ENOMEM', 'ENOBUFS: the reply was lost', 'EAGAIN', 'EINTR', 'EBUSY', 'EPERM'])(
  '%s',
  (reason) => {
    it('is nobody’s fault: one attempt, nothing is taken away, and the next start has everything', async () => {
      const kernel = new MemoryNftTransport();
      const backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), new MemoryLogger());
      await backend.start(everyKind('IPv4'), node);
      const before = kernel.dump('IPv4');
      const lift = kernel.refuse(({ op }) => (op === 'add-elements' ? reason : undefined));
      kernel.resetCounts();
      await expect(backend.apply([{ key: plain.key, entry: plain }], node)).rejects.toThrow(
        'cannot accept a transaction now',
      );
      expect(kernel.refusedCount).toBe(1);
      expect(kernel.dump('IPv4')).toBe(before);
      lift();
      expect((await backend.start([plain, ...everyKind('IPv4').slice(1)], node)).failed).toEqual([]);
      expect(kernel.dump('IPv4')).not.toBe(before);
    });
  },
);
