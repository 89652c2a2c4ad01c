import { IptablesDriver, type IptablesBackendOptions } from '../../src/adapters/iptables/iptables-driver.js';
import { IpvsDriver } from '../../src/adapters/ipvs/ipvs-driver.js';
import { NftablesDriver } from '../../src/adapters/nftables/nftables-driver.js';
import { UserspaceBackend } from '../../src/adapters/userspace/userspace-backend.js';
import type { Backend } from '../../src/application/ports/backend.js';
import { Reconciler } from '../../src/application/reconcile/reconciler.js';

/** Mode nftables for one family, as the program makes it. */
export function nftablesBackend(...parts: ConstructorParameters<typeof NftablesDriver>): Backend {
  return new Reconciler({ mode: 'nftables', family: parts[0] }, new NftablesDriver(...parts), parts[3]);
}

/** Mode iptables. */
export function iptablesBackend(...parts: ConstructorParameters<typeof IptablesDriver>): Backend {
  return new Reconciler({ mode: 'iptables', family: parts[0] }, new IptablesDriver(...parts), parts[4]);
}

/** Mode ipvs. */
export function ipvsBackend(...parts: ConstructorParameters<typeof IpvsDriver>): Backend {
  return new Reconciler({ mode: 'ipvs', family: parts[0] }, new IpvsDriver(...parts), parts[3]);
}

type UserspaceParts = ConstructorParameters<typeof UserspaceBackend>;

/** Mode userspace. */
export function userspaceBackend(
  family: UserspaceParts[0],
  options: UserspaceParts[1],
  commands: UserspaceParts[2],
  watch: ConstructorParameters<typeof IptablesDriver>[2],
  ...[local, clock, logger]: [UserspaceParts[4], UserspaceParts[5], UserspaceParts[6]]
): UserspaceBackend {
  const rules: UserspaceParts[3] = (readHost, how: IptablesBackendOptions) =>
    iptablesBackend(family, commands, watch, readHost, logger, how);
  return new UserspaceBackend(family, options, commands, rules, local, clock, logger);
}
