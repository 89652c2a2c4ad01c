import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { kernelTrial, kernelSuits } from '../../../src/adapters/nftables/transport.js';

describe('the trial of a kernel', () => {
  let kernel: MemoryNftTransport;
  beforeEach(() => void (kernel = new MemoryNftTransport()));

  it('finds nothing wrong with one that has nftables, and leaves nothing there', async () => {
    const generation = await kernel.generation();
    expect(await kernelTrial(kernel)).toBeUndefined();
    expect(await kernel.generation()).toBe(generation);
    expect(kernel.dump('IPv4')).toBe('');
  });

  it.each(['operation', 'nothing'] as const)('finds out what is refused, named by %s', async (blame) => {
    kernel.refuse(({ op }) => (op === 'add-chain' ? 'ENOENT' : undefined), blame);
    expect(await kernelTrial(kernel)).toMatch(/^the kernel rejects (add-chain|nf_tables): ENOENT/);
  });

  it('has nothing to say where it may not ask', async () => {
    kernel.commit = () => Promise.reject(new Error('not permitted'));
    expect(await kernelTrial(kernel)).toBeUndefined();
  });
});

it.each([
  ['4.19.0-26-amd64', false],
  ['5.4.0-150-generic', false],
  ['5.12.19', false],
  ['5.13.0', true],
  ['5.15.0-91-generic', true],
  ['6.1.0-18-amd64', true],
  ['10.0.0', true],
])('mode nftables on Linux %s: %s', (release, suits) => {
  expect(kernelSuits(release)).toBe(suits);
});
