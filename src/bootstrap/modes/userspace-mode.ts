import { IptablesDriver } from '../../adapters/iptables/iptables-driver.js';
import { FloodGuard } from '../../adapters/process/flood-guard.js';
import { readHostNetwork, hostAddress, listenAddresses } from '../../adapters/userspace/host-network.js';
import { raiseOpenFileLimit } from '../../adapters/userspace/open-file-limit.js';
import { removePortals } from '../../adapters/userspace/remove-portals.js';
import { UserspaceBackend, type RulesBackendFactory } from '../../adapters/userspace/userspace-backend.js';
import type { Logger } from '../../application/ports/logger.js';
import { Reconciler } from '../../application/reconcile/reconciler.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import { parsePortRange } from '../../domain/userspace/port-allocator.js';
import type { Configuration } from '../configuration/schema.js';
import { openIptables, withEachVariant } from './iptables-access.js';
import type { BackendParts, Mode, OpenMode } from './mode.js';

type Settings = Pick<Configuration, 'bindAddress' | 'portRange' | 'udpIdleTimeout'>;

/** Userspace mode: iptables leads connections to this process, which passes them on to the endpoints. */
export class UserspaceMode implements Mode {
  readonly name = 'userspace';

  constructor(
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  async open(): Promise<OpenMode> {
    const iptables = await openIptables(this.logger);
    const { bindAddress } = this.settings;
    const listening = listenAddresses(bindAddress, iptables.families);
    await raiseOpenFileLimit(this.logger);
    const backends = new Map<IpFamily, UserspaceBackend>();
    let guard: FloodGuard | undefined;
    const backend = (family: IpFamily, { localAddresses, clock, logger }: BackendParts) => {
      guard ??= FloodGuard.guard({ logger: logger.child({ caller: 'userspace' }), clock });
      const options = {
        listen: listening.get(family),
        hostAddress: () => this.hostAddress(family),
        portRange: parsePortRange(this.settings.portRange)!,
        udpIdleTimeout: this.settings.udpIdleTimeout,
      };
      const { tool } = iptables;
      const rules: RulesBackendFactory = (readHost, how) =>
        new Reconciler(
          { mode: this.name, family },
          new IptablesDriver(family, tool, iptables.watch(family), readHost, guard!, how),
          guard!,
        );
      const made = new UserspaceBackend(family, options, tool, rules, localAddresses, clock, guard);
      backends.set(family, made);
      return made;
    };
    return {
      name: this.name,
      families: [...listening.keys()],
      means: { ...iptables.means, bindAddress },
      variantMix: iptables.variantMix,
      backend,
      proxyPorts: (family) => ({
        proxiedAt: (protocol, port) => backends.get(family)?.proxiedAt(protocol, port),
        proxyPortOf: (key) => backends.get(family)?.proxyPortOf(key),
      }),
      flows: (entry) => backends.get(entry.family)?.udpFlows(entry),
      close: async () => {
        await Promise.all([...backends.values()].map((backend) => backend.close()));
        guard?.close();
        await iptables.close();
      },
    };
  }

  private async hostAddress(family: IpFamily): Promise<string | undefined> {
    return hostAddress(family, await readHostNetwork(this.logger));
  }

  cleanUp(): Promise<readonly string[]> {
    return withEachVariant(IP_FAMILIES, (tool, _variant, family) => removePortals(tool, family));
  }
}
