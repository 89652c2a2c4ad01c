import { parseAddress } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { chooseHostAddress } from '../../domain/userspace/host-address.js';
import type { HostNetwork } from './host-network.js';

const LOOPBACK = ['127.0.0.1', '::1'];
const UNSPECIFIED = ['0.0.0.0', '::'];

/**
 * The one address on which the proxy's sockets of a family listen, undefined for every address of this machine, for each family
 * that can be served: all of them when the address to listen on is unspecified, otherwise its own (docs/spec/userspace.md §1).
 * @throws when nothing can be served there
 */
export function listenAddresses(
  bindAddress: string,
  families: readonly IpFamily[],
): ReadonlyMap<IpFamily, string | undefined> {
  const bind = parseAddress(bindAddress)!;
  if (LOOPBACK.includes(bind.text))
    throw new Error(
      `cannot proxy on localhost: --bind-address is ${bindAddress}; no other machine could reach it`,
    );
  if (UNSPECIFIED.includes(bind.text)) return new Map(families.map((family) => [family, undefined]));
  if (!families.includes(bind.family))
    throw new Error(`--bind-address ${bindAddress}: ${bind.family} cannot be served on this machine`);
  return new Map([[bind.family, bind.text]]);
}

/** The address by which the machine is known now; undefined while it has none. */
export function hostAddress(family: IpFamily, host: HostNetwork): string | undefined {
  return chooseHostAddress(host.addresses, host.defaultRoutes(family), family);
}
