import { createServer } from 'node:net';
import type { Protocol, ServicePortKey } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { claimText, type PortClaim } from '../../../domain/userspace/claims.js';
import { portRefused, portTaken } from '../errors.js';
import { bindUdp, listenTcp, type ListenOptions } from './listen.js';

/** Keeps a port from other programs until the returned function is called. Rejects when another program has it. */
export type HoldPort = (port: ListenOptions, protocol: Protocol) => Promise<() => void>;

interface HeldPort {
  readonly owner: ServicePortKey;
  release(): void;
}

/**
 * Ports of this machine that belong to service ports. Each is held by a socket that serves no client, so that no other
 * program can take it: rules lead its packets to the proxy port before they get there.
 */
export class PortClaims {
  private readonly held = new Map<string, HeldPort>();

  constructor(
    private readonly family: IpFamily,
    private readonly hold: HoldPort = holdBySocket,
  ) {}

  /**
   * Claiming again what the owner holds changes nothing. One call at a time.
   * @param leaving service ports that go with this change, and leave what they hold to others
   * @throws PortClaimError
   */
  async claim(
    claim: PortClaim,
    protocol: Protocol,
    owner: ServicePortKey,
    leaving: ReadonlySet<ServicePortKey>,
  ): Promise<void> {
    const id = `${claimText(claim)}/${protocol}`;
    const present = this.held.get(id);
    if (present?.owner === owner) return;
    if (present) {
      if (!leaving.has(present.owner)) throw portTaken(claim, protocol, present.owner);
      this.held.set(id, { ...present, owner });
      return;
    }
    try {
      this.held.set(id, { owner, release: await this.hold({ family: this.family, ...claim }, protocol) });
    } catch (error) {
      throw portRefused(claim, protocol, error);
    }
  }

  /** Does nothing to what the owner does not hold. */
  release(claim: PortClaim, protocol: Protocol, owner: ServicePortKey): void {
    const id = `${claimText(claim)}/${protocol}`;
    const present = this.held.get(id);
    if (present?.owner !== owner) return;
    present.release();
    this.held.delete(id);
  }
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
