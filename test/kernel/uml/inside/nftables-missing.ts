import { expect } from 'expect';
import { describe, it } from 'node:test';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { NftablesMode } from '../../../../src/bootstrap/modes/nftables-mode.js';

/** This kernel has nf_tables, but no address translation in it. */
describe('nftables mode on a kernel that cannot have it', () => {
  it('is known to be unavailable before anything is written', async () => {
    const problem = await new NftablesMode(new MemoryLogger()).problem();
    expect(problem).toMatch(/^the kernel rejects (add-table|add-chain|nf_tables): /);
  });
});
