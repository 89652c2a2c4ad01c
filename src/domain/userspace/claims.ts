import { hostPort } from '../net/address.js';
import type { Frontend } from '../forwarding/forwarding-entry.js';

/** A port of this machine that no other program may take while it leads to a service (docs/spec/userspace.md §5.3). */
export interface PortClaim {
  /** Undefined for every address of this machine. */
  readonly address: string | undefined;
  readonly port: number;
}

/** What must be claimed for a frontend: node ports, and service addresses that are this machine's own. */
export function claimOf(
  { address, port }: Frontend,
  isLocal: (address: string) => boolean,
): PortClaim | undefined {
  return address === undefined || isLocal(address) ? { address, port } : undefined;
}

/** Tells the claims of one protocol apart. */
export function claimText({ address, port }: PortClaim): string {
  return hostPort(address ?? '', port);
}
