import { parseAddress } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { chooseHostAddress } from '../../domain/userspace/host-address.js';
import type { ProxyAddress } from '../../domain/userspace/proxy-address.js';
import type { HostNetwork } from './host-network.js';

const LOOPBACK = ['127.0.0.1', '::1'];
const UNSPECIFIED = ['0.0.0.0', '::'];

/**
 * Where the proxy's sockets are, for each family that can be served: all of them when the address to listen on is
 * unspecified, otherwise its own (docs/spec/userspace.md §1).
 * @throws when there is none
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
  const found = families.flatMap((family) => {
    const address = chooseHostAddress(host.addresses, host.defaultRoutes(family), family);
    return address === undefined ? [] : [[family, { listen: undefined, host: address }] as const];
  });
  if (found.length === 0)
    throw new Error('no interface that is up has an address for the proxy; name one with --bind-address');
  return new Map(found);
}
