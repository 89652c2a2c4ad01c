import { nftablesBackend } from '../../support/backends.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { variant } from '../../../src/testing/contract/sample-sets.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';

const node = sampleNode('IPv4');
const [three, two] = [3, 2].map((endpoints) => variant('IPv4', 'plain', { endpoints }));

it('what could not be removed is removed by the next comparison, which blames nobody; it is told once', async () => {
  const kernel = new MemoryNftTransport();
  const logger = new MemoryLogger();
  const backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
  const warnings = () => logger.at('warn').map(({ message }) => message);
  await backend.start([two!], node);
  const right = kernel.dump('IPv4');
  await backend.apply([{ key: three!.key, entry: three! }], node);
  await backend.apply([{ key: two!.key, entry: two! }], node);
  const lift = kernel.refuse(({ op }) => (op === 'delete-chain' ? 'EBUSY' : undefined));
  await backend.verify('quick');
  expect(warnings()).toEqual(['cannot remove unused chains and sets; will retry']);
  await backend.verify('quick');
  expect(warnings()).toHaveLength(1);
  lift();
  expect(await backend.verify('full')).toMatchObject({ retriedDeletes: true });
  expect(kernel.dump('IPv4')).toBe(right);
  expect(await backend.verify('full')).toMatchObject({ written: 0, retriedDeletes: false });
});
