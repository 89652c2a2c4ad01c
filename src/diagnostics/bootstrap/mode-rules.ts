import { IptablesTracer, NO_PROXY_PORTS, UserspaceTracer } from '../adapters/rules/iptables-rules.js';
import { IptablesTool } from '../../adapters/iptables/iptables-tool.js';
import { IpvsTracer } from '../adapters/rules/ipvs-rules.js';
import { readActualWalk } from '../adapters/rules/nftables-kernel.js';
import { NftablesTracer } from '../adapters/rules/nftables-rules.js';
import { readHostNetwork, hostAddress, listenAddresses } from '../../adapters/userspace/host-network.js';
import type { Logger } from '../../application/ports/logger.js';
import type { Tracer } from '../application/ports/tracer.js';
import { modeInForce, type ProxyConfiguration } from '../../bootstrap/configuration/proxy-configuration.js';
import type { ProxyMode } from '../../bootstrap/configuration/schema.js';
import { readIptablesHost } from '../../bootstrap/modes/iptables-mode.js';
import { DEFAULT_SCHEDULER, openIpvsKernel } from '../../bootstrap/modes/ipvs-mode.js';
import type { OpenMode } from '../../bootstrap/modes/mode.js';
import type { IptablesHost } from '../../domain/iptables/options.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** The rules of the mode of a configuration: as they are planned, and as packets pass through them. Changes nothing. */
export class ModeRules {
  readonly mode: ProxyMode;
  /** A tool of its own: reading does not wait for what the proxy writes. Which variant it is, is found out once. */
  private readonly tables = new IptablesTool();
  /** As it was when the first packet was traced. */
  private host: Promise<IptablesHost> | undefined;

  /** @param running the proxy that runs here; left out: none */
  constructor(
    private readonly configuration: ProxyConfiguration,
    private readonly logger: Logger,
    private readonly running?: Pick<OpenMode, 'proxyPorts'>,
  ) {
    this.mode = modeInForce(configuration);
  }

  /** Opens nothing before rules of the kernel are read. */
  tracer(family: IpFamily): Tracer {
    const readTables = (signal?: AbortSignal) => this.tables.save(family, signal);
    switch (this.mode) {
      case 'nftables':
        return new NftablesTracer((signal) => readActualWalk(family, signal));
      case 'iptables':
        return new IptablesTracer(() => (this.host ??= readIptablesHost(this.logger)), readTables);
      case 'ipvs':
        return new IpvsTracer(family, this.configuration.ipvs.scheduler || DEFAULT_SCHEDULER, () => ({
          ...openIpvsKernel(),
          tables: this.tables,
        }));
      case 'userspace':
        return new UserspaceTracer(
          this.running?.proxyPorts?.(family) ?? NO_PROXY_PORTS,
          async () => ({
            listen: listenAddresses(this.configuration.bindAddress, [family]).get(family),
            host: hostAddress(family, await readHostNetwork(this.logger)),
          }),
          readTables,
        );
    }
  }
}
