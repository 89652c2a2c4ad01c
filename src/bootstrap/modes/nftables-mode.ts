import { ContainerModule } from 'inversify';
import { GenerationWatch } from '../../adapters/nftables/generation-watch.js';
import { NftablesBackend } from '../../adapters/nftables/nftables-backend.js';
import type { Logger } from '../../application/ports/logger.js';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { CommandLine } from '../configuration/command-line.js';
import { BACKENDS, FAMILIES, LOGGER } from '../identifiers.js';
import { checkKernel } from '../kernel-check.js';
import { openNftTransports } from '../nft-transport.js';
import type { Mode, OpenMode } from './open-mode.js';

/** Mode nftables: one table for each family, over netlink or the nft tool. */
export class NftablesMode implements Mode {
  readonly name = 'nftables';

  constructor(
    private readonly wish: CommandLine['nftTransport'],
    private readonly logger: Logger,
  ) {}

  async open(families: readonly IpFamily[] = supportedFamilies()): Promise<OpenMode> {
    checkKernel();
    const transports = await openNftTransports(this.wish, this.logger);
    const generations = new GenerationWatch(transports.generations);
    const module = new ContainerModule(({ bind }) => {
      bind(BACKENDS)
        .toDynamicValue((context) =>
          context
            .get(FAMILIES)
            .map(
              (family) =>
                new NftablesBackend(family, transports.families[family], generations, context.get(LOGGER)),
            ),
        )
        .inSingletonScope();
    });
    return {
      name: this.name,
      families,
      means: { transport: transports.name },
      module,
      close: () => transports.close(),
    };
  }

  async cleanUp(): Promise<void> {
    const transports = await openNftTransports(this.wish, this.logger);
    const generations = new GenerationWatch(transports.generations);
    try {
      for (const family of IP_FAMILIES) {
        await new NftablesBackend(family, transports.families[family], generations, this.logger).cleanup();
      }
    } finally {
      await transports.close();
    }
  }
}
