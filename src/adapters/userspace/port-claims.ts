import { createServer } from 'node:net';
import { getOrMake } from '../../domain/model/maps.js';
import type { Protocol, ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { claimText, type PortClaim } from '../../domain/userspace/proxied-port.js';
import { portRefused, portTaken, bindUdp, listenTcp, type ListenOptions } from './proxy-socket.js';

/** Keeps a port from other programs until the returned function is called. Rejects when another program has it. */
export type HoldPort = (port: ListenOptions, protocol: Protocol) => Promise<() => void>;

/** Whether the owner of a port gives it up in the change that is being programmed. */
export type IsReleased = (owner: ServicePortKey, claim: PortClaim) => boolean;

interface Socket {
  readonly isOnAllAddresses: boolean;
  release(): void;
}

interface HeldPort {
  readonly claim: PortClaim;
  owner: ServicePortKey;
  /** A socket on all addresses holds the port of each single address, too: the kernel takes only one of both. */
  socket: Socket;
}

/**
 * Ports of this machine that belong to service ports. Each is bound by a socket that serves no client, so that no other
 * program can take it: rules lead its packets to the proxy port before they get there.
 */
export class PortClaims {
  private readonly held = new Map<string, HeldPort>();
  /** By port and protocol. */
  private readonly ofPort = new Map<string, Set<HeldPort>>();

  constructor(
    private readonly family: IpFamily,
    private readonly hold: HoldPort = holdBySocket,
  ) {}

  /**
   * Claiming again what the owner holds changes nothing. One call at a time.
   * @param isReleased whether the present owner gives the port up in the same change
   * @throws PortClaimError
   */
  async claim(
    claim: PortClaim,
    protocol: Protocol,
    owner: ServicePortKey,
    isReleased: IsReleased,
  ): Promise<void> {
    const id = `${claimText(claim)}/${protocol}`;
    const present = this.held.get(id);
    if (present?.owner === owner) return;
    if (present) {
      if (!isReleased(present.owner, claim)) throw portTaken(claim, protocol, present.owner);
      present.owner = owner;
      return;
    }
    const others = getOrMake(this.ofPort, portText(claim, protocol), () => new Set<HeldPort>());
    try {
      const added = { claim, owner, socket: await this.socketBeside([...others], claim, protocol) };
      this.held.set(id, added);
      others.add(added);
    } catch (error) {
      throw portRefused(claim, protocol, error);
    }
  }

  /** Does nothing to what the owner does not hold. */
  release(claim: PortClaim, protocol: Protocol, owner: ServicePortKey): void {
    const id = `${claimText(claim)}/${protocol}`;
    const present = this.held.get(id);
    if (present?.owner !== owner) return;
    this.held.delete(id);
    const others = this.ofPort.get(portText(claim, protocol))!;
    others.delete(present);
    if (![...others].some(({ socket }) => socket === present.socket)) present.socket.release();
    if (others.size === 0) this.ofPort.delete(portText(claim, protocol));
  }

  /** @param others what is held of the port: a socket on all addresses takes the place of those on single ones */
  private async socketBeside(
    others: readonly HeldPort[],
    claim: PortClaim,
    protocol: Protocol,
  ): Promise<Socket> {
    const present = others.find(({ socket }) => socket.isOnAllAddresses);
    if (present) return present.socket;
    if (claim.address !== undefined) return this.open(claim, protocol);
    for (const { socket } of others) socket.release();
    try {
      const socket = await this.open(claim, protocol);
      for (const other of others) other.socket = socket;
      return socket;
    } catch (error) {
      for (const other of others)
        other.socket = await this.open(other.claim, protocol).catch(() => NO_SOCKET);
      throw error;
    }
  }

  private async open(claim: PortClaim, protocol: Protocol): Promise<Socket> {
    const release = await this.hold({ family: this.family, ...claim }, protocol);
    return { isOnAllAddresses: claim.address === undefined, release };
  }
}

/** Of a port that another program has taken. */
const NO_SOCKET: Socket = { isOnAllAddresses: false, release: () => undefined };

function portText({ port }: PortClaim, protocol: Protocol): string {
  return `${port}/${protocol}`;
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
