import { nftablesBackend } from '../../support/backends.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { NodeSettings } from '../../../src/application/node/node-contexts.js';
import { openNftTransports } from '../../../src/bootstrap/modes/nftables-mode.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { LOCAL_ADDRESSES, type Change } from '../../support/nftables/cluster-arbitraries.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';
import { serve } from '../../support/program/driver.js';

/** What became of a history in the kernel. */
export interface Lived {
  /** Service ports that the kernel rejected. */
  readonly failed: number;
  /** Operations sent to the kernel, the last look for leftovers apart. */
  readonly operations: number;
}

const handlers = {
  /** Lives through the changes with a proxy of its own, on whatever the kernel holds; a look for leftovers ends it. */
  async live(changes: readonly Change[], settings: NodeSettings): Promise<Lived> {
    const transports = openNftTransports();
    let operations = 0;
    for (const family of IP_FAMILIES) {
      const way = transports.families[family];
      const commit = way.commit.bind(way);
      way.commit = (of, steps) => {
        operations += steps.length;
        return commit(of, steps);
      };
    }
    const generations = new GenerationWatch(transports.generations);
    const proxy: InMemoryProxy = new InMemoryProxy(
      IP_FAMILIES.map((family) =>
        nftablesBackend(family, transports.families[family], generations, new MemoryLogger()),
      ),
      settings,
      () => LOCAL_ADDRESSES,
    );
    let failed = 0;
    const sync = async () => void (failed += (await proxy.sync()).flatMap((result) => result.failed).length);
    for (const step of changes) {
      if (step.change === 'apply') proxy.events.applied(step.kind, step.object);
      else if (step.change === 'delete') proxy.events.deleted(step.kind, step);
      else await sync();
    }
    await sync();
    const lived = { failed, operations };
    await proxy.verify('full');
    await transports.close();
    return lived;
  },
};

export type IncrementalDriver = typeof handlers;

await serve(handlers);
