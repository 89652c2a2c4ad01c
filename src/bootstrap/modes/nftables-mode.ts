import { release } from 'node:os';
import { GenerationWatch } from '../../adapters/nftables/generation-watch.js';
import { kernelTrial, kernelSuits, type NftTransport } from '../../adapters/nftables/transport.js';
import { rejectedPackets } from '../../adapters/nftables/netlink/counters.js';
import { NetlinkNftTransport } from '../../adapters/nftables/netlink/netlink-transport.js';
import { isWithoutNfTables } from '../../adapters/nftables/netlink/table-listing.js';
import { NftablesDriver } from '../../adapters/nftables/nftables-driver.js';
import { supportedFamilies } from '../../adapters/process/host-facts.js';
import { errorMessage } from '../../application/error-message.js';
import type { Logger } from '../../application/ports/logger.js';
import { Reconciler } from '../../application/reconcile/reconciler.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import { type BackendParts, attemptEach, type Mode, type OpenMode, type OpenPurpose } from './mode.js';

/** nftables mode: one table for each family, over netlink. */
export class NftablesMode implements Mode {
  readonly name = 'nftables';

  constructor(private readonly logger: Logger) {}

  /**
   * Why this machine has no nftables mode: its kernel is too old, cannot be reached, or rejects what the mode is made of.
   * Undefined when it has, or when this process is not permitted to query it.
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

  /** Opening it changes nothing, for any purpose. */
  async open(_purpose?: OpenPurpose, families: readonly IpFamily[] = supportedFamilies()): Promise<OpenMode> {
    checkKernel();
    const transports = openToServe();
    const generations = new GenerationWatch(transports.generations);
    const backend = (family: IpFamily, { logger: parent, metrics }: BackendParts) => {
      const logger = parent.child({ caller: 'nftables' });
      const transport = transports.families[family];
      const options = { observer: metrics };
      const driver = new NftablesDriver(family, transport, generations, logger, options);
      return new Reconciler({ mode: this.name, family }, driver, logger);
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
      await attemptEach(IP_FAMILIES, async (family) => {
        const driver = new NftablesDriver(family, transports.families[family], generations, this.logger);
        await driver.cleanup().catch((error: unknown) => {
          // Such a kernel has no table that could be left.
          if (!isWithoutNfTables(error)) throw error;
        });
      });
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

/** Switches the check off when set to anything (docs/internals/spec/nftables.md §1.1). */
const SKIP = 'KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK';

/** Throws when this kernel is too old for nftables mode. */
export function checkKernel(kernel = release(), environment: NodeJS.ProcessEnv = process.env): void {
  if (kernelSuits(kernel) || environment[SKIP]) return;
  throw new Error(
    `kube-proxy in nftables mode requires kernel 5.13 or later; this is ${kernel}. Set ${SKIP}=1 to try`,
  );
}

/** Access to nftables: a transport for each family, so that none waits for another, and one for the generation. */
export interface NftTransports {
  readonly families: Readonly<Record<IpFamily, NftTransport>>;
  readonly generations: NftTransport;
  close(): Promise<void>;
}

/** @throws NetlinkError where netlink is unavailable */
export function openNftTransports(): NftTransports {
  const families = { IPv4: NetlinkNftTransport.open(), IPv6: NetlinkNftTransport.open() };
  const generations = NetlinkNftTransport.open();
  const all = [families.IPv4, families.IPv6, generations];
  const close = async () => void (await Promise.all(all.map((transport) => transport.close())));
  return { families, generations, close };
}
