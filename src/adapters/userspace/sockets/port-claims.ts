import { createServer } from 'node:net';
import type { Protocol, ServicePortKey } from '../../../domain/model/service-port-name.js';
import { hostPort } from '../../../domain/net/address.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { PortClaim } from '../../../domain/userspace/claims.js';
import { PortClaimError } from '../errors.js';
import { bindUdp, listenTcp, type ListenOptions } from './listen.js';

/** Keeps a port from others until the answer is called. Rejects when another program has it. */
export type HoldPort = (port: ListenOptions, protocol: Protocol) => Promise<() => void>;

interface Holding {
  readonly owner: ServicePortKey;
  release(): void;
}

/**
 * Ports of this machine that belong to service ports. Each is held by a socket that serves nobody, so that no other
 * program can take it: packets for it are led to the proxy port before they get there.
 */
export class PortClaims {
  private readonly holdings = new Map<string, Holding>();

  constructor(
    private readonly family: IpFamily,
    private readonly hold: HoldPort = holdBySocket,
  ) {}

  /**
   * To claim again what one holds is fine. One call at a time.
   * @throws PortClaimError
   */
  async claim(claim: PortClaim, protocol: Protocol, owner: ServicePortKey): Promise<void> {
    const id = claimText(claim, protocol);
    const present = this.holdings.get(id);
    if (present?.owner === owner) return;
    if (present) throw PortClaimError.taken(claim, protocol, present.owner);
    try {
      this.holdings.set(id, { owner, release: await this.hold({ family: this.family, ...claim }, protocol) });
    } catch (error) {
      throw PortClaimError.refused(claim, protocol, error);
    }
  }

  /** What another one holds, or nobody, is left alone. */
  release(claim: PortClaim, protocol: Protocol, owner: ServicePortKey): void {
    const id = claimText(claim, protocol);
    const holding = this.holdings.get(id);
    if (holding?.owner !== owner) return;
    holding.release();
    this.holdings.delete(id);
  }
}

function claimText({ address, port }: PortClaim, protocol: Protocol): string {
  return `${hostPort(address ?? '', port)}/${protocol}`;
}

async function holdBySocket(options: ListenOptions, protocol: Protocol): Promise<() => void> {
  if (protocol === 'UDP') {
    const socket = await bindUdp(options);
    socket.on('error', () => undefined);
    return () => void socket.close();
  }
  const server = createServer((stray) => stray.destroy());
  await listenTcp(server, options);
  server.on('error', () => undefined);
  return () => void server.close();
}
