import type { Tracer, Walk } from '../../application/ports/tracer.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { SavedTables } from '../../../domain/iptables/saved-tables.js';
import { walkWithDevices } from '../../domain/iptables/known-devices.js';
import { SavedRules, type OwnChains } from '../../domain/iptables/saved-rules.js';
import { USERSPACE_BASE_RULES, type ProxyAddress } from '../../../domain/userspace/portals.js';
import { userspaceDesiredWalk } from '../../domain/userspace/desired-walk.js';
import type { ProxyPorts } from '../../../domain/userspace/proxied-port.js';
import { walkProxied } from '../../domain/userspace/proxied-walk.js';

/** Those of a process that does not serve. */
export const NO_PROXY_PORTS: ProxyPorts = {
  proxiedAt: () => undefined,
  proxyPortOf: () => undefined,
};

/** Follows packets through mode userspace. What is behind a proxy port only the process knows that has it. */
export class UserspaceTracer implements Tracer {
  /**
   * @param readAddress where the sockets are, or would be
   * @param readTables all tables of the family, as iptables-save prints them; rejects with an ToolError
   */
  constructor(
    private readonly ports: ProxyPorts,
    private readonly readAddress: () => Promise<ProxyAddress>,
    private readonly readTables: (signal?: AbortSignal) => Promise<SavedTables>,
  ) {}

  async desired(entries: Iterable<ForwardingEntry>): Promise<Walk> {
    return userspaceDesiredWalk(entries, await this.readAddress(), this.ports.proxyPortOf);
  }

  async actual(signal?: AbortSignal): Promise<Walk> {
    const rules = new SavedRules(await this.readTables(signal), isPortalChain);
    return {
      walk: (packet, environment) =>
        walkWithDevices(environment, (devices) =>
          walkProxied(rules, this.ports.proxiedAt, packet, environment, devices),
        ),
    };
  }
}

const isPortalChain: OwnChains = (table, chain) =>
  USERSPACE_BASE_RULES.shared.some((portal) => portal.table === table && portal.name === chain);
