import { GenerationWatch } from '../../adapters/nftables/generation-watch.js';
import { kernelTrial } from '../../adapters/nftables/kernel-support.js';
import { NetlinkNftTransport } from '../../adapters/nftables/netlink/netlink-transport.js';
import { isWithoutNfTables } from '../../adapters/nftables/netlink/table-listing.js';
import { NftablesDriver } from '../../adapters/nftables/nftables-driver.js';
import { rejectedPackets } from '../../adapters/nftables/netlink/counters.js';
import { supportedFamilies } from '../../adapters/process/host-facts.js';
import { errorMessage } from '../../application/error-message.js';
import type { Logger } from '../../application/ports/logger.js';
import { Reconciler } from '../../application/reconcile/reconciler.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { BackendParts } from '../parts/reading-parts.js';
import { checkKernel } from './kernel-check.js';
import { openNftTransports, type NftTransports } from './nft-transports.js';
import { Attempts } from './attempts.js';
import type { Mode, OpenMode, OpenPurpose } from './open-mode.js';

/** Mode nftables: one table for each family, over netlink. */
export class NftablesMode implements Mode {
  readonly name = 'nftables';

  constructor(private readonly logger: Logger) {}

  /**
   * Why this machine has no nftables mode: its kernel is too old, cannot be reached, or refuses what the mode is made of.
   * Undefined when it has, or when this process is not permitted to ask.
   */
  async problem(): Promise<string | undefined> {
    try {
      checkKernel();
      const transport = NetlinkNftTransport.open();
      try {
        return await kernelTrial(transport);
      } finally {
        await transport.close();
      }
    } catch (error) {
      return errorMessage(error);
    }
  }

  /** Opening it changes nothing, whatever it is for. */
  async open(_purpose?: OpenPurpose, families: readonly IpFamily[] = supportedFamilies()): Promise<OpenMode> {
    checkKernel();
    const transports = openToServe();
    const generations = new GenerationWatch(transports.generations);
    const backend = ({ family, logger: parent, metrics }: BackendParts) => {
      const logger = parent.child({ caller: 'nftables' });
      const transport = transports.families[family];
      const options = { observer: metrics };
      return new Reconciler(new NftablesDriver(family, transport, generations, logger, options), logger);
    };
    return {
      name: this.name,
      families,
      means: {},
      rejectedPackets,
      backend,
      close: () => transports.close(),
    };
  }

  async cleanUp(): Promise<readonly string[]> {
    let transports: NftTransports;
    try {
      transports = openNftTransports();
    } catch (error) {
      return [`cannot check for rules of nftables: ${errorMessage(error)}`];
    }
    const generations = new GenerationWatch(transports.generations);
    try {
      const attempts = new Attempts();
      for (const family of IP_FAMILIES) {
        const driver = new NftablesDriver(family, transports.families[family], generations, this.logger);
        await attempts.make(() => driver.cleanup().catch(unlessWithoutNfTables));
      }
      attempts.end();
      return [];
    } finally {
      await transports.close();
    }
  }
}

function openToServe(): NftTransports {
  try {
    return openNftTransports();
  } catch (error) {
    throw new Error(`cannot reach nftables: ${errorMessage(error)}; use --proxy-mode iptables`, {
      cause: error,
    });
  }
}

/** Such a kernel has no table that could be left. */
function unlessWithoutNfTables(error: unknown): void {
  if (!isWithoutNfTables(error)) throw error;
}
