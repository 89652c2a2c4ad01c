import { ContainerModule } from 'inversify';
import { GenerationWatch } from '../../adapters/nftables/generation-watch.js';
import { NftablesBackend } from '../../adapters/nftables/nftables-backend.js';
import { BACKENDS, FAMILIES, GENERATION_WATCH, LOGGER, NFT_TRANSPORTS } from '../identifiers.js';
import type { NftTransports } from '../nft-transport.js';

/** Mode nftables: one table for each family. */
export function nftablesModule(transports: NftTransports): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(NFT_TRANSPORTS).toConstantValue(transports);
    bind(GENERATION_WATCH).toConstantValue(new GenerationWatch(transports.generations));
    bind(BACKENDS)
      .toDynamicValue((context) =>
        context
          .get(FAMILIES)
          .map(
            (family) =>
              new NftablesBackend(
                family,
                transports.families[family],
                context.get(GENERATION_WATCH),
                context.get(LOGGER),
              ),
          ),
      )
      .inSingletonScope();
  });
}
