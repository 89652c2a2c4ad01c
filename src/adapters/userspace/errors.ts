import { errorMessage } from '../../application/error-message.js';
import { heldBy } from '../../application/words/held-words.js';
import type { PortClaim } from '../../domain/userspace/claims.js';
import { hostPort } from '../../domain/net/address.js';
import { serviceOf, type Protocol, type ServicePortKey } from '../../domain/model/service-port-name.js';
import { NamedError } from '../../domain/model/named-error.js';

/** The proxy cannot listen for a service port. */
export class ProxyPortError extends NamedError {
  constructor(where: string, protocol: Protocol, cause: unknown) {
    super(`cannot listen on ${where}/${protocol}: ${reasonOf(cause)}`, { cause });
  }
}

/** There is no such proxy socket. */
export class UnsupportedProtocolError extends NamedError {
  constructor(protocol: Protocol) {
    super(`mode userspace carries TCP and UDP, not ${protocol}: use another mode for this service port`);
  }
}

/** A port of this machine that a service port needs belongs to another one, or to another program. */
export class PortClaimError extends NamedError {
  constructor({ address, port }: PortClaim, protocol: Protocol, reason: string, options?: ErrorOptions) {
    const what = address === undefined ? `node port ${port}` : `local address ${hostPort(address, port)}`;
    super(`${what}/${protocol} is unavailable: ${reason}; not serving it, nor the addresses after it`, {
      ...options,
    });
  }
}

/** Another service port has it. */
export function portTaken(claim: PortClaim, protocol: Protocol, owner: ServicePortKey): PortClaimError {
  return new PortClaimError(claim, protocol, `it ${heldBy({ holder: serviceOf(owner) })}`);
}

/** The system does not give it. */
export function portRefused(claim: PortClaim, protocol: Protocol, cause: unknown): PortClaimError {
  return new PortClaimError(claim, protocol, reasonOf(cause), { cause });
}

/** None of the endpoints that were tried took the connection. */
export class DialError extends AggregateError {
  constructor(attempts: readonly { readonly endpoint: string; readonly reason: unknown }[]) {
    const reasons = attempts.map(({ reason }) => reason);
    const shown = attempts.map(({ endpoint, reason }) => `${endpoint}: ${reasonOf(reason)}`);
    super(reasons, `no endpoint takes the connection (${shown.join('; ')})`);
    this.name = 'DialError';
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return 'another program has the port';
  if (code === 'EMFILE') return 'too many open files; raise the limit of this process';
  return errorMessage(error);
}
