import { parseAddress } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { chooseHostAddress } from '../../domain/userspace/host-address.js';
import type { ProxyAddress } from '../../domain/userspace/proxy-address.js';
import type { HostNetwork } from './host-network.js';

const LOOPBACK = ['127.0.0.1', '::1'];
const UNSPECIFIED = ['0.0.0.0', '::'];

/**
 * Where the proxy's sockets are, for each family that can be served: all of them when the address to listen on is
 * unspecified, otherwise its own (docs/spec/userspace.md §1). A family that has no address by which the machine is known may get one later.
 * @throws when nothing can be served there
 */
export function proxyAddresses(
  bindAddress: string,
  families: readonly IpFamily[],
  host: HostNetwork,
): ReadonlyMap<IpFamily, ProxyAddress> {
  const bind = parseAddress(bindAddress)!;
  if (LOOPBACK.includes(bind.text))
    throw new Error(
      `cannot proxy on localhost: --bind-address is ${bindAddress}; no other machine could reach it`,
    );
  if (!UNSPECIFIED.includes(bind.text)) {
    if (!families.includes(bind.family))
      throw new Error(`--bind-address ${bindAddress}: ${bind.family} cannot be served on this machine`);
    return new Map([[bind.family, { listen: bind.text, host: bind.text }]]);
  }
  return new Map(families.map((family) => [family, { listen: undefined, host: hostAddress(family, host) }]));
}

/** The address by which the machine is known now; undefined while it has none. */
export function hostAddress(family: IpFamily, host: HostNetwork): string | undefined {
  return chooseHostAddress(host.addresses, host.defaultRoutes(family), family);
}
