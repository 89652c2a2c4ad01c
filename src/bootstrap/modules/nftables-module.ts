import { ContainerModule } from 'inversify';
import { GenerationWatch } from '../../adapters/nftables/generation-watch.js';
import { NftablesBackend } from '../../adapters/nftables/nftables-backend.js';
import type { NftTransport } from '../../adapters/nftables/transport.js';
import { BACKENDS, FAMILIES, GENERATION_WATCH, LOGGER, NFT_TRANSPORT } from '../identifiers.js';

/** Mode nftables: one table for each family, over one transport. */
export function nftablesModule(transport: NftTransport): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(NFT_TRANSPORT).toConstantValue(transport);
    bind(GENERATION_WATCH).toConstantValue(new GenerationWatch(transport));
    bind(BACKENDS)
      .toDynamicValue((context) =>
        context
          .get(FAMILIES)
          .map(
            (family) =>
              new NftablesBackend(family, transport, context.get(GENERATION_WATCH), context.get(LOGGER)),
          ),
      )
      .inSingletonScope();
  });
}
